import { expect, test } from 'vitest';
import { operatorReads } from '../../../../functions/tasks/table/operator-reads.ts';
import { fakeTable } from './fake-table.ts';

const keys = ['a', 'b', 'c'].map((taskId) => ({ owner: 'o', taskId }));

test('tasks that a batch leaves out are read again', async () => {
  const { db, inputs } = fakeTable((_command, { RequestItems }) => {
    const [first, ...rest] = RequestItems?.t.Keys ?? [];
    return { Responses: { t: [first] }, UnprocessedKeys: rest.length > 0 ? { t: { Keys: rest } } : {} };
  });
  expect(await operatorReads(db, 't').getMany(keys)).toEqual(keys);
  expect(inputs('BatchGet')).toHaveLength(3);
});

test('tasks that cannot be read are an error, not a shorter list', async () => {
  const { db } = fakeTable((_command, { RequestItems }) => ({ Responses: {}, UnprocessedKeys: RequestItems }));
  await expect(operatorReads(db, 't').getMany(keys)).rejects.toMatchObject({ name: 'Unavailable' });
});
