import { describe, expect, test } from 'vitest';
import { claimsOfTests } from './claims.ts';
import { idsIn } from './ids.ts';
import { listTitles } from './titles.ts';

describe('the ids of a title', () => {
  test.each<[string, string, readonly string[]]>([
    ['one', 'blocks until terminal (C-18)', ['C-18']],
    ['a list', 'refused, and nothing runs (A-14, X-21)', ['A-14', 'X-21']],
    ['a range', 'initialize (B-01 to B-03, C-01)', ['B-01', 'B-02', 'B-03', 'C-01']],
    ['a range past ten', '(E-09 to E-11)', ['E-09', 'E-10', 'E-11']],
    ['before a placeholder', 'refused: %o (D-25): %s', ['D-25']],
    ['none in texts that only resemble one', 'UTF-16, 2025-11-25, HMAC-SHA-25, A-1, A-123, XA-12, A-12b, a-12', []],
    ['a backward range as it stands', '(B-04 to B-01)', ['B-04 to B-01']],
    ['a range across sections as it stands', '(B-04 to C-01)', ['B-04 to C-01']],
  ])('%s', (_name, title, ids) => {
    expect(idsIn(title)).toEqual(ids);
  });
});

test('a test proves what it and its suites cite, if nothing in its file may keep it from running', () => {
  const titles = [
    { parts: ['a (A-01)', 'b (B-02, C-03)'], file: 'x.test.ts', line: 7 },
    { parts: ['c (D-04)'], file: 'y.test.ts', line: 8 },
    { parts: ['cites nothing'], file: 'z.test.ts', line: 9 },
  ];
  const sources: Record<string, string> = { 'x.test.ts': "test('b')", 'y.test.ts': 'test.skipIf(noPython)' };
  const claims = claimsOfTests(titles, (file) => sources[file] ?? '');
  expect(claims.map(({ id, source, proves }) => [id, source, proves])).toEqual([
    ...['A-01', 'B-02', 'C-03'].map((id) => [id, 'x.test.ts:7', true]),
    ['D-04', 'y.test.ts:8', false],
  ]);
});

test('no title of a test is longer than 90 characters', () => {
  const titles = listTitles();
  expect(new Set(titles.map(({ file }) => file)).size).toBeGreaterThan(200);
  const long = titles.flatMap(({ parts, file, line }) =>
    parts.filter((part) => part.length > 90).map((part) => `${file}:${line} has ${part.length}: ${part}`),
  );
  expect(long).toEqual([]);
});
