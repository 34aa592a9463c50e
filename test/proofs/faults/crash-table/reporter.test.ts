import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FILES, untested } from './reporter.ts';

const files = FILES.map((file) => join(import.meta.dirname, file));
const lines = Array.from({ length: 25 }, (_, i) => ({ row: i + 1 }));

test('rows that no test has measured fail a run of all files of the table, and no other run', () => {
  expect(untested(files, lines)).toEqual([]);
  expect(
    untested(
      files,
      [...lines, ...lines].filter(({ row }) => row !== 9 && row !== 23),
    ),
  ).toEqual([9, 23]);
  expect(untested([...files, '/elsewhere.test.ts'], [])).toHaveLength(25);
  expect(untested(files.slice(1), [])).toEqual([]);
  expect(untested(files.slice(0, -1), [])).toEqual([]);
});
