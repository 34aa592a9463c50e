import { expect, test } from 'vitest';
import { taskStore, updateExpression } from '../../../../functions/tasks/table/store.ts';
import { answer } from '../../../../functions/tasks/transitions/answers.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { cancel } from '../../../../functions/tasks/transitions/end.ts';
import { fakeTable } from './fake-table.ts';

/** A table that leaves out the second of two tasks so often before it gives it, too. */
function leavingOut(times: number) {
  let asked = 0;
  const task = { tool: 'x', ttl: 60_000, timeout: 10_000, accepts: [], legacy: false };
  const keys = [1, 2].map((n) => create({ owner: 'o', taskId: String(n) }, task, 1_700_000_000_000));
  const { db } = fakeTable(() => {
    const [first, second] = keys;
    if (++asked === 1) return { Responses: { t: [first] }, UnprocessedKeys: { t: { Keys: [second] } } };
    if (asked <= times) return { Responses: { t: [] }, UnprocessedKeys: { t: { Keys: [second] } } };
    return { Responses: { t: [second] } };
  });
  return { keys, store: taskStore(db, 't'), asked: () => asked };
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
    const change = answer(record, Object.keys(answers), answers, record.createdAt);
    return updateExpression(change, record.taskId).UpdateExpression.length;
  };
  expect(lengthFor(700)).toBe(lengthFor(1));
});

test('what decides is read strongly consistent; reports, which decide nothing, are not (C-23)', async () => {
  const key = { owner: 'o', taskId: 't'.repeat(36) };
  const run = { ...key, round: 1, deadline: 1 };
  const { db, asked } = fakeTable(() => ({}));
  const store = taskStore(db, 't');
  for (const read of [
    () => store.get(key),
    () => store.readStatus(key),
    () => store.getMany([key]),
    () => store.list('o', 10),
    () => store.readJournal(run),
    () => store.readEntry(run, { kind: 'step', name: 's' }),
    () => store.session('s'),
    () => store.takeSlot(key, 1, 1, 1),
    () => store.openStream('o', 1, 1, 1),
  ]) {
    asked.length = 0;
    await read();
    const [first] = asked;
    const { RequestItems, ConsistentRead = RequestItems?.t.ConsistentRead } = first?.input ?? {};
    expect([first?.command, ConsistentRead]).toEqual([expect.stringMatching(/Get|Query/), true]);
  }
  asked.length = 0;
  await store.get(key, { report: true });
  expect(asked.map(({ input }) => input.ConsistentRead)).toEqual([true, undefined]);
});

test('a batch is given up after five reads that bring nothing', async () => {
  const { db, asked } = fakeTable(() => ({ UnprocessedKeys: { t: { Keys: [{ owner: 'o', taskId: 't' }] } } }));
  await expect(taskStore(db, 't').getMany([{ owner: 'o', taskId: 't' }])).rejects.toMatchObject({
    name: 'Unavailable',
  });
  expect(asked).toHaveLength(5);
});

test('a change is fenced by where the input of its record is: in no object, in one, in any', () => {
  const change = (inputRef: string | null | undefined) =>
    updateExpression({ ...cancel(1), ...(inputRef !== undefined && { inputRef }) }, 't');
  expect(change(undefined).ConditionExpression).not.toContain('inputRef');
  expect(change(null).ConditionExpression).toContain(' AND attribute_not_exists(#inputRef)');
  expect(change('s3/x')).toMatchObject({
    ConditionExpression: expect.stringContaining(' AND #inputRef = :inInput'),
    ExpressionAttributeNames: { '#inputRef': 'inputRef' },
    ExpressionAttributeValues: { ':inInput': 's3/x' },
  });
});

test('a list reads none of the items beside the tasks: their names begin with #', async () => {
  const { db, inputs } = fakeTable(() => ({}));
  await taskStore(db, 't').list('o', 10);
  const first = String(inputs('Query')[0]?.ExpressionAttributeValues?.[':first']);
  expect('#~' < first && first < '0').toBe(true);
});
