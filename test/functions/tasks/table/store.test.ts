import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { taskStore, updateExpression } from '../../../../functions/tasks/table/store.ts';
import { answer, create } from '../../../../functions/tasks/transitions.ts';

/** A table that leaves out the second of two tasks so often before it gives it, too. */
function leavingOut(times: number) {
  let asked = 0;
  const task = { tool: 'x', ttl: 60_000, timeout: 10_000, accepts: [], legacy: false };
  const keys = [1, 2].map((n) => create({ owner: 'o', taskId: String(n) }, task, 1_700_000_000_000));
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

test('a task left out by long throttling is not taken for a missing one (A-15, E-25)', async () => {
  const { store, keys, asked } = leavingOut(100);
  await expect(store.getMany(keys)).rejects.toMatchObject({ name: 'Unavailable' });
  expect(asked()).toBeLessThan(10);
});

test('a change with hundreds of answers has an expression as short as one (4,096 bytes)', () => {
  const task = { tool: 'x', ttl: 60_000, timeout: 10_000, accepts: [], legacy: false };
  const record = create({ owner: 'o', taskId: 't' }, task, 1_700_000_000_000);
  const lengthFor = (count: number) => {
    const answers = Object.fromEntries(Array.from({ length: count }, (_, i) => [`r1.${i}`, '{}']));
    return updateExpression(answer(record, Object.keys(answers), answers, record.createdAt)).UpdateExpression.length;
  };
  expect(lengthFor(700)).toBe(lengthFor(1));
});
