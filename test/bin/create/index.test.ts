import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const COMMAND = join(import.meta.dirname, '../../../bin/create/index.ts');
const folder = mkdtempSync(join(tmpdir(), 'mcp-create-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the command in an empty folder. */
function create(args: readonly string[], options: readonly string[] = []) {
  const cwd = mkdtempSync(join(folder, 'in-'));
  writeFileSync(join(cwd, 'file'), '');
  mkdirSync(join(cwd, 'full/of'), { recursive: true });
  mkdirSync(join(cwd, 'empty'));
  symlinkSync('empty', join(cwd, 'link'));
  symlinkSync('nowhere', join(cwd, 'dangling'));
  const before = files(cwd);
  const { status, stdout, stderr } = spawnSync(process.execPath, [...options, COMMAND, ...args], {
    cwd,
    encoding: 'utf8',
  });
  return { status, stdout, stderr, cwd, made: files(cwd).filter((file) => !before.includes(file)) };
}
const files = (cwd: string) => readdirSync(cwd, { recursive: true, encoding: 'utf8' });

test.each(['my-tools', 'empty', 'a/b', '.hidden/x.y_z1'])('a project named after its folder: %s', (name) => {
  const { status, stdout, cwd } = create([name]);
  expect(status).toBe(0);
  expect(stdout).toContain(`cd ${name}\n  npm install\n`);
  const { name: written } = JSON.parse(readFileSync(join(cwd, name, 'package.json'), 'utf8'));
  expect(written).toBe(name.split('/').at(-1));
});

const refused: readonly (readonly [args: readonly string[], sentence: string])[] = [
  [[], 'usage: npm create mcp-task-server <folder>'],
  [['a', 'b'], 'usage: npm create mcp-task-server <folder>'],
  [['My Tools'], 'use a-z 0-9'],
  [['tools.'], 'use a-z 0-9'],
  [['full'], 'full is not empty: name a new folder'],
  [['file'], 'file is a file: name a new folder'],
  [['file/my-tools'], 'file/my-tools could not be made: ENOTDIR'],
  [['link'], 'link is a link: name a new folder'],
  [['dangling'], 'dangling is a link: name a new folder'],
  ...['node_modules', 'favicon.ico', 'con', 'nul.tools', 'com1'].map((name) => [[name], 'reserves this name'] as const),
];
test.each(refused)('%j is refused with one sentence, and nothing is made', (args, sentence) => {
  const { status, stderr, made } = create(args);
  expect(stderr).toContain(sentence);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(status).toBe(1);
  expect(made).toEqual([]);
});

test.each([
  ['20.20.2', 1],
  ['22.17.1', 1],
  ['22.18.0', 0],
  ['24.0.0', 0],
])('Node is checked before anything is made: %s', (version, wanted) => {
  const versions = `{ value: { ...process.versions, node: '${version}' } }`;
  const older = `data:text/javascript,Object.defineProperty(process, 'versions', ${versions})`;
  const { status, stderr, made } = create(['my-tools'], ['--import', older]);
  expect(status).toBe(wanted);
  if (wanted === 0) return;
  expect(stderr).toBe(
    `The project needs Node 22.18 or newer, and this is ${version}: install Node 24 (https://nodejs.org), then try again\n`,
  );
  expect(made).toEqual([]);
});
