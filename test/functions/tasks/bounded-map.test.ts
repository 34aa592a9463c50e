import { expect, test } from 'vitest';
import { setBounded } from '../../../functions/tasks/bounded-map.ts';

test('a bounded map keeps the entries that were set last', () => {
  const map = new Map<string, number>();
  for (const [key, value] of Object.entries({ a: 1, b: 2 })) setBounded(map, key, value, 2);
  expect([...map]).toEqual([
    ['a', 1],
    ['b', 2],
  ]);
  setBounded(map, 'a', 3, 2);
  setBounded(map, 'c', 4, 2);
  expect([...map]).toEqual([
    ['a', 3],
    ['c', 4],
  ]);
});
