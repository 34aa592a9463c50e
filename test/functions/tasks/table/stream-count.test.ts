import { expect, test } from 'vitest';
import { streamCountStore } from '../../../../functions/tasks/table/stream-count.ts';
import { conditionFailed, fakeTable } from './fake-table.ts';

const LONGEST = 50_000;
const T0 = 34_000_000 * LONGEST;

function countOf(Item: object | undefined, failures = 0) {
  let left = failures;
  const table = fakeTable((command) => {
    if (command === 'Get') return { Item };
    if (left-- > 0) throw conditionFailed();
    return {};
  });
  const open = (most: number) => streamCountStore(table.db, 't').openStream('o', most, T0, LONGEST);
  return { ...table, open };
}
const held = (count: number) => ({ window: T0, held: count, [`n${T0}`]: count });

test('a stream too many costs one read, and no write (C-37)', async () => {
  for (const [count, writes] of [
    [2, 1],
    [3, 0],
    [4, 0],
  ] as const) {
    const { open, inputs } = countOf(held(count));
    expect((await open(3)) !== undefined).toBe(writes === 1);
    expect([inputs('Get').length, inputs('Update').length]).toEqual([1, writes]);
  }
});

test('a stream too many costs no write in the window after it either (C-37)', async () => {
  const last = T0 - LONGEST;
  for (const [window, count, writes] of [
    [last, 2, 1],
    [last, 3, 0],
    [last - LONGEST, 3, 1],
  ] as const) {
    const { open, inputs } = countOf({ window, held: count, [`n${window}`]: count });
    expect((await open(3)) !== undefined).toBe(writes === 1);
    expect([inputs('Get').length, inputs('Update').length]).toEqual([1, writes]);
  }
});

test('a stream that others take three times is not opened', async () => {
  for (const [failures, opened] of [
    [2, true],
    [3, false],
  ] as const) {
    const { open, inputs } = countOf(held(0), failures);
    expect((await open(3)) !== undefined).toBe(opened);
    expect(inputs('Update')).toHaveLength(3);
  }
});

test('a new window keeps the count of the one before, and drops older ones', async () => {
  const last = T0 - LONGEST;
  const older = [T0 - 2 * LONGEST, T0 - 3 * LONGEST];
  const counts = Object.fromEntries([last, ...older].map((window) => [`n${window}`, 1]));
  const { open, inputs } = countOf({ window: last, held: 1, n: 1, begin1: 1, n1x: 1, ...counts });
  await open(3);
  const [{ UpdateExpression = '', ExpressionAttributeNames: names = {} } = {}] = inputs('Update');
  const removed = UpdateExpression.split(' REMOVE ')[1]?.split(', ') ?? [];
  expect(new Set(removed.map((name) => names[name]))).toEqual(new Set(older.map((window) => `n${window}`)));
});
