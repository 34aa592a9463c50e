import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findCircle, folderImports, importsIn, importsOf, trackedFiles } from './imports.ts';

const SOURCE = ['bin', 'functions', 'lib', 'local'] as const;
const MOST_FILES = 15;
const MOST_LINES = 300;

/** What the files of a folder never import. */
const WALLS: Readonly<Record<string, readonly string[]>> = {
  functions: ['lib', 'local', 'bin', 'test'],
  lib: ['local', 'bin', 'test'],
  local: ['functions', 'lib', 'bin', 'test'],
  bin: ['test'],
  'functions/engine': ['functions/mcp', 'functions/operator', 'functions/reconciler', 'functions/tool'],
  'functions/tasks': [
    'functions/engine',
    'functions/mcp',
    'functions/tool',
    'functions/authorizer',
    'functions/reconciler',
  ],
  'functions/tool': ['functions/mcp', 'functions/authorizer', 'functions/reconciler'],
  'functions/authorizer': ['functions/mcp', 'functions/tool', 'functions/reconciler'],
  'functions/reconciler': ['functions/mcp', 'functions/tool', 'functions/authorizer'],
};

/** Folders in which a file with a function has a test of its name, or a folder of tests. CONTRIBUTING.md lists them. */
const TESTED_BY_NAME = [
  'functions/tasks',
  'functions/tasks/results',
  'functions/tasks/s3',
  ...['http', 'identity', 'protocol', 'read', 'stream', 'wire'].map((name) => `functions/mcp/${name}`),
];

const files = trackedFiles(...SOURCE);
const imports = importsOf(files);
const isIn = (file: string, folder: string) => file.startsWith(`${folder}/`);

test('no circle of files', () => {
  expect(findCircle(imports)).toBeUndefined();
});

test('no circle of folders', () => {
  expect(findCircle(folderImports(imports))).toBeUndefined();
});

test.each(Object.entries(WALLS))('%s imports nothing from %j', (folder, others) => {
  const broken = imports.filter(({ from, to }) => isIn(from, folder) && others.some((other) => isIn(to, other)));
  expect(broken).toEqual([]);
});

test('the tests of the product import the embedded cloud by its public files', () => {
  const dev = ['session', 'terminal'].map((name) => `local/dev/${name}.ts`);
  const known = ['local/cloud.ts', 'local/marks.ts', 'local/testing.ts', ...dev];
  const inner = importsOf(trackedFiles('test')).filter(
    ({ to }) => isIn(to, 'local') && !isIn(to, 'local/test') && !known.includes(to),
  );
  expect(inner).toEqual([]);
});

test.each([
  ['starts a run', /\bworkflow\.start\([a-z]/, ['functions/engine/start-round.ts']],
  ['stops a run', /\bworkflow\.stop\([a-z]/, ['functions/engine/stop.ts']],
  ['takes a revision by its name', /\b(era [!=]==|revisions\[)/, ['functions/mcp/endpoint.ts']],
])('one file %s', (_what, pattern, where) => {
  const source = files.filter((file) => isIn(file, 'functions') && file.endsWith('.ts'));
  expect(source.filter((file) => pattern.test(readFileSync(file, 'utf8')))).toEqual(where);
});

test('at most 18 files know Express: the others ask for a trait of its runs', () => {
  const source = trackedFiles('bin', 'functions', 'lib').filter((file) => file.endsWith('.ts'));
  const knowing = source.filter((file) => /express(?!ion)/i.test(readFileSync(file, 'utf8')));
  expect(knowing).toContain('functions/tasks/engines.ts');
  expect(knowing.slice(18)).toEqual([]);
});

test(`no folder holds more than ${MOST_FILES} files beside its folders`, () => {
  const counts = new Map<string, number>();
  for (const file of trackedFiles(...SOURCE, 'test', 'docs')) {
    counts.set(posix.dirname(file), (counts.get(posix.dirname(file)) ?? 0) + 1);
  }
  expect([...counts].filter(([, count]) => count > MOST_FILES)).toEqual([]);
});

test(`no file of code or tests is longer than ${MOST_LINES} lines`, () => {
  const code = [...files, ...trackedFiles('test')].filter((file) => file.endsWith('.ts'));
  expect(code.filter((file) => lineCount(file) > MOST_LINES)).toEqual([]);
});

test.each(TESTED_BY_NAME)('each file of %s that has a function has a test of its name', (folder) => {
  const tests = trackedFiles('test');
  const isTested = (file: string) =>
    tests.includes(`test/${file.replace(/\.ts$/, '.test.ts')}`) ||
    tests.some((one) => isIn(one, `test/${file.replace(/\.ts$/, '')}`) && one.endsWith('.test.ts'));
  const withFunctions = files.filter(
    (file) => posix.dirname(file) === folder && /^(export )?(async )?function\b/m.test(readFileSync(file, 'utf8')),
  );
  expect(withFunctions.length).toBeGreaterThan(1);
  expect(withFunctions.filter((file) => !isTested(file))).toEqual([]);
});

test('a test that replaces a module first resets the modules of its process', () => {
  const replaces = (text: string) => /^vi\.(mock|doMock)\(/m.test(text) && !text.includes('vi.resetModules()');
  const tests = trackedFiles('test', 'local/test').filter((file) => file.endsWith('.test.ts'));
  expect(tests.length).toBeGreaterThan(300);
  expect(tests.filter((file) => replaces(readFileSync(file, 'utf8')))).toEqual([]);
});

const lineCount = (file: string) => readFileSync(file, 'utf8').split('\n').length - 1;

describe('the judge', () => {
  const between = (...pairs: readonly string[]) =>
    pairs.map((pair) => {
      const [from = '', to = ''] = pair.split(' ');
      return { from, to };
    });

  test('finds a circle of files', () => {
    expect(findCircle(between('a b', 'b c', 'x a', 'c a'))).toEqual(['a', 'b', 'c', 'a']);
    expect(findCircle(between('a b', 'a c', 'b c'))).toBeUndefined();
  });

  test('finds a circle of folders that is not one of files', () => {
    const circle = between('a/one.ts b/one.ts', 'b/two.ts a/two.ts');
    expect(findCircle(circle)).toBeUndefined();
    expect(findCircle(folderImports(circle))).toEqual(['a', 'b', 'a']);
  });

  test('sees type-only imports, re-exports and dynamic imports', () => {
    const source =
      "import type { A } from './a.ts';\nexport * from '../b.ts';\nawait import('./c.ts');\nimport './d.ts';";
    expect(importsIn(source)).toEqual(['./a.ts', '../b.ts', './c.ts', './d.ts']);
  });
});
