import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { taskStore } from '../../../functions/tasks/store.ts';

/** A table that leaves out the second of two tasks so often before it gives it, too. */
function leavingOut(times: number) {
  let asked = 0;
  const keys = [1, 2].map((n) => ({ owner: 'o', taskId: String(n) }));
  const send = async () => {
    const [first, second] = keys;
    if (++asked === 1) return { Responses: { t: [first] }, UnprocessedKeys: { t: { Keys: [second] } } };
    if (asked <= times) return { Responses: { t: [] }, UnprocessedKeys: { t: { Keys: [second] } } };
    return { Responses: { t: [second] } };
  };
  return { keys, store: taskStore({ send } as unknown as DynamoDBDocumentClient, 't'), asked: () => asked };
}

test('a task that throttling leaves out of an answer is asked for again, a few times', async () => {
  const { store, keys } = leavingOut(4);
  expect(await store.getMany(keys)).toEqual(keys);
});

test('a task that throttling leaves out for long is not taken for one that is not there (A-15, E-25)', async () => {
  const { store, keys, asked } = leavingOut(100);
  await expect(store.getMany(keys)).rejects.toMatchObject({ name: 'Unavailable' });
  expect(asked()).toBeLessThan(10);
});
