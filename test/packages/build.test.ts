import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addCommonJs } from '../../bin/packages/common-js.ts';
import { packageJson } from '../../bin/packages/package-json.ts';
import { removeUnreached } from '../../bin/packages/reachable.ts';
import { copyTracked } from '../../bin/packages/tracked.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mcp-build-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (files: Readonly<Record<string, string>>) => {
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
};
const there = () => globSync('*', { cwd: folder }).sort();
const entry = { exports: { '.': { types: './index.d.ts', default: './index.js' } } };

test('unreached files are left out, code and declarations separately', () => {
  write({
    'index.js': "import { a } from './a.js';\nexport const b = () => import('./late.js');\n",
    'index.d.ts': "import type { T } from './types.ts';\nexport declare const b: T;\n",
    'a.js': 'export const a = 1;',
    'a.d.ts': 'export declare const a: number;',
    'late.js': 'export {};',
    'types.js': 'export {};',
    'types.d.ts': 'export type T = 1;',
  });
  removeUnreached(folder, entry);
  expect(there()).toEqual(['a.js', 'index.d.ts', 'index.js', 'late.js', 'types.d.ts']);
});

test('an import without a dependency fails the build, also in a declaration', () => {
  write({ 'index.js': "import { a } from '@some/package/deep';\n", 'index.d.ts': 'export {};' });
  expect(() => removeUnreached(folder, entry)).toThrow('index.js imports @some/package/deep: not a dependency');
  removeUnreached(folder, { ...entry, dependencies: { '@some/package': '1' } });
  write({ 'index.js': '', 'index.d.ts': "import type { B } from 'other';\n" });
  expect(() => removeUnreached(folder, entry)).toThrow('index.d.ts imports other: not a dependency');
});

test('the CommonJS files require each other, know where they lie, and have declarations', () => {
  write({
    'index.js': "export { here } from './a.js';\nexport const late = async () => (await import('./a.js')).here;\n",
    'index.d.ts': "export { here } from './a.ts';\n",
    'a.js': "export const here = new URL('./a.txt', import.meta.url).pathname;\n",
  });
  addCommonJs(folder);
  const code = "const m = require('./index.cjs'); m.late().then((late) => console.log([m.here, late].join(' ')));";
  const printed = execFileSync(process.execPath, ['-e', code], { cwd: folder, encoding: 'utf8' });
  expect(printed.trim()).toBe(`${join(folder, 'a.txt')} ${join(folder, 'a.txt')}`);
  expect(readFileSync(join(folder, 'index.d.cts'), 'utf8')).toBe("export { here } from './a.cjs';\n");
});

test('the published package.json names compiled files only', () => {
  const source = {
    ...{ name: 'p', version: '1.0.0', private: true, scripts: { test: 'x' }, devDependencies: { d: '1' } },
    ...{ exports: { '.': './index.ts', './sub': './sub/index.ts' }, bin: { p: './bin.ts' } },
  };
  write({ 'package.json': JSON.stringify(source) });
  expect(packageJson(folder, { commonJs: true })).toMatchObject({
    exports: {
      './sub': {
        require: { types: './sub/index.d.cts', default: './sub/index.cjs' },
        types: './sub/index.d.ts',
        default: './sub/index.js',
      },
    },
    bin: { p: './bin.js' },
    main: './index.cjs',
    typesVersions: { '*': { sub: ['./sub/index.d.ts'] } },
  });
  const published = Object.keys(packageJson(folder));
  expect(published.filter((field) => ['private', 'scripts', 'devDependencies'].includes(field))).toEqual([]);
});

test('only files that git tracks are copied', () => {
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: folder, stdio: 'pipe' });
  git('init');
  mkdirSync(join(folder, 'template/tools'), { recursive: true });
  write({ 'template/app.ts': '', 'template/tools/a b.ts': '', 'template/left-out.ts': '', 'beside.ts': '' });
  git('add', '--all');
  write({ 'template/.env': 'KEY=secret', 'template/tools/note.txt': '' });
  const out = join(folder, 'out');
  copyTracked(folder, 'template', out, (file) => file !== 'template/left-out.ts');
  expect(readdirSync(out, { recursive: true }).sort()).toEqual(['app.ts', 'tools', 'tools/a b.ts']);
  expect(() => copyTracked(folder, 'out', join(folder, 'other'))).toThrow('git tracks no file in out');
});
