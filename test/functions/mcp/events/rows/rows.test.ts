import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { NOT_APPLICABLE, TESTED } from './rows.ts';

test('the 131 rows of pull request 504 are these, each once', () => {
  const all = [...Object.keys(NOT_APPLICABLE), ...TESTED];
  expect(new Set(all).size).toBe(131);
  expect(all).toHaveLength(131);
});

test('each row that applies has one test, by its id', () => {
  const files = ['discovery', 'poll', 'webhook', 'delivery'].map((name) =>
    readFileSync(new URL(`${name}.test.ts`, import.meta.url), 'utf8'),
  );
  const tested = files.flatMap((text) => [...text.matchAll(/^test\('([\w-]+)'/gm)].map(([, id]) => id));
  expect(tested.toSorted()).toEqual(TESTED.toSorted());
});

test('docs/protocol.md says which rows do not apply, and why', () => {
  const page = readFileSync('docs/protocol.md', 'utf8');
  const listed = [...page.matchAll(/^\| (`[a-z0-9-]+`(?:, `[a-z0-9-]+`)*) \| ([^|]+) \|$/gm)].flatMap(
    ([, ids = '', why]) => [...ids.matchAll(/`([a-z0-9-]+)`/g)].map(([, id]) => [id, why] as const),
  );
  expect(Object.fromEntries(listed)).toMatchObject(NOT_APPLICABLE);
});
