import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { idsIn } from './ids.ts';
import { titlesIn } from './titles.ts';

const texts = (source: string) => titlesIn(source).map(({ text }) => text);
const proving = (source: string) =>
  titlesIn(source)
    .filter(({ proves }) => proves)
    .map(({ text }) => text);

describe('the ids of a title', () => {
  test.each<[string, string, readonly string[]]>([
    ['one', 'blocks until terminal (C-18)', ['C-18']],
    ['a list', 'refused, and nothing runs (A-14, X-21)', ['A-14', 'X-21']],
    ['a range', 'initialize (B-01 to B-03, C-01)', ['B-01', 'B-02', 'B-03', 'C-01']],
    ['a range past ten', '(E-09 to E-11)', ['E-09', 'E-10', 'E-11']],
    ['before a placeholder', 'refused: %o (D-25): %s', ['D-25']],
    ['none in what only resembles one', 'UTF-16, 2025-11-25, HMAC-SHA-25, A-1, A-123, XA-12, A-12b, a-12', []],
    ['a backward range as it stands', '(B-04 to B-01)', ['B-04 to B-01']],
    ['a range across sections as it stands', '(B-04 to C-01)', ['B-04 to C-01']],
  ])('%s', (_name, title, ids) => {
    expect(idsIn(title)).toEqual(ids);
  });
});

describe('a title', () => {
  test.each<[string, string, readonly string[]]>([
    ['of every function', `describe('a', () => { test('b', f); it("c", f); suite(\`d\`, () => {}) });`, [...'abcd']],
    ['behind modifiers', `test.concurrent('a', f); it.only('b', f); describe.sequential('c', f);`, [...'abc']],
    ['on its own line, with a timeout', "test(\n  'a, b',\n  { timeout: 5 },\n  async () => {},\n);", ['a, b']],
    ['with quotes in it', String.raw`test('it\'s "a" \`b\`', f);`, ['it\'s "a" `b`']],
    ['with substitutions', 'test(`races, ${count({ n: `${1}` })} runs`, f);', ['races, … runs']],
    ['added up', `test('a ' + \`b \` + "c", f);`, ['a b c']],
    ['beyond a slash that divides', `const a = b / c; test('a', f); const d = e / g;`, ['a']],
    ['beyond regular expressions', `x(/['"\`/*]/, /[/']/g); test('a', () => /\\/'/.test(b));`, ['a']],
    ['not in a comment', `// test('a', f);\n/* test('b', f); */ test('c', f);`, ['c']],
    ['not in a string', `const source = "test('a', f)"; run(\`test('b', f); \${c}\`);`, []],
    ['not of a method', `local.test('a', f); sfn.describe('b');`, []],
    ['not of another function', `testAll('a', f); describeIt('b'); function test('c') {}`, []],
    ['not of a message in the body', `test('a', () => expect(b, 'c').toBe('d'));`, ['a']],
    ['not when it is computed', `test(name, f); test(title('a'), f);`, []],
  ])('%s', (_name, source, expected) => {
    expect(texts(source)).toEqual(expected);
  });

  test('knows its line', () => {
    expect(titlesIn("\n\ntest(\n'a', f);\n// \n it.each([\n['b']])('%s', f);")).toMatchObject([
      { text: 'a', line: 4 },
      { text: '%s', line: 7 },
      { text: 'b', line: 7 },
    ]);
  });
});

describe('the title of a row', () => {
  test.each<[string, string, readonly string[]]>([
    ['is the first string of it', `test.each([['a', 1, 'b'], ['c', { d: ['e'] }, [f]],])('%s', f);`, ['%s', 'a', 'c']],
    ['is the row itself', `test.each(['a', 'b'])('does %s', f);`, ['does %s', 'a', 'b']],
    ['needs a string', `test.each([[5, 'a'], [{ b: 'c' }], [d('e')], ['f' as const]])('%s', f);`, ['%s']],
    ['needs a title that shows it', `test.each([['a', 1]])('b', f);`, ['b']],
    ['may follow a type', `test.each<[string, Map<string, () => void>]>([['a', m]])('%s', f);`, ['%s', 'a']],
    [
      'may come from a suite',
      `describe.each([['a']] as const)('in %s', () => { test('b', f); });`,
      ['in %s', 'a', 'b'],
    ],
    ['is found by name', `const rows: [string, () => void][] = [['a', f]]; it.each(rows)('%s', f);`, ['%s', 'a']],
    [
      'is that of the last such name',
      `const r = [['a']]; const r2 = r; { const r = [['b']]; it.each(r)('%s', f); }`,
      ['%s', 'b'],
    ],
    ['is found behind dots', `const more = ['a']; test.each([...more, 'b'])('%s', f);`, ['%s', 'a', 'b']],
    ['is not guessed', `const r = ['a']; test.each(r.map(g))('%s', f); test.each(x)('%s', f);`, ['%s', '%s']],
    ['is nothing of a template', "test.each`a | b\n${1} | ${2}`('$a', f);", ['$a']],
  ])('%s', (_name, source, expected) => {
    expect(texts(source)).toEqual(expected);
  });
});

describe('what may prove something', () => {
  test.each<[string, string, readonly string[]]>([
    ['a test and what it is in', `describe('a', () => { describe('b', () => { test('c', f); }); });`, [...'abc']],
    ['no suite without a test', `describe('a', () => {}); test('b', f);`, ['b']],
    ['nothing skipped or to do', `test.skip('a', f); it.todo('b'); test.concurrent.skip('c', f);`, []],
    ['nothing skipped by options', `test('a', { skip: true }, f); test('b', { retry: 1, todo: why }, f);`, []],
    ['what options do not skip', `test('a', { skip: false, timeout: 5 }, f);`, ['a']],
    ['nothing without a function', `test('a'); test.each(['b'])('%s');`, []],
    ['nothing that depends', `test.skipIf(ci)('a', f); describe.runIf(x(1))('b', () => { test('c', f); });`, []],
    ['nothing that skips itself', `test('a', ({ skip }) => { if (x) skip(); }); test('b', (c) => c.skip('why'));`, []],
    ['nothing that has to fail', `test.fails('a', f);`, []],
    [
      'nothing in a skipped suite',
      `describe.skip('a', () => { describe('b', () => { test('c', f); }); }); it('d', f);`,
      ['d'],
    ],
    ['no skipped rows', `test.skip.each([['a']])('%s', f); test.each([['b']])('%s', f);`, ['%s', 'b']],
    ['a suite by its other tests', `describe('a', () => { test.skip('b', f); test('c', f); });`, ['a', 'c']],
  ])('%s', (_name, source, expected) => {
    expect(proving(source)).toEqual(expected);
  });
});

test('no title of a test is longer than 90 characters', () => {
  const root = join(import.meta.dirname, '../..');
  const files = globSync('{test,local/test}/**/*.test.ts', { cwd: root });
  expect(files.length).toBeGreaterThan(200);
  const long = files.flatMap((file) =>
    titlesIn(readFileSync(join(root, file), 'utf8'))
      .filter(({ text }) => text.length > 90)
      .map(({ text, line }) => `${file}:${line} has ${text.length}: ${text}`),
  );
  expect(long).toEqual([]);
});
