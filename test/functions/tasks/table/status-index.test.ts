import { expect, test } from 'vitest';
import { limits } from '../../../../functions/tasks/limits.ts';
import { OPEN, STATUSES } from '../../../../functions/tasks/record.ts';
import { oldestOpen, statusShard, statusShards } from '../../../../functions/tasks/table/status-index.ts';
import { memoryEngine, TABLE } from '../../../support/engine/memory.ts';
import { record } from '../applied.ts';

const T0 = 1_700_000_000_000;
const at = (taskId: string, createdAt: number, status: (typeof STATUSES)[number] = 'working') =>
  record({ taskId, createdAt, status });

test('each status has as many partitions, and each task lies in one of them', () => {
  const all = STATUSES.flatMap(statusShards);
  expect(new Set(all).size).toBe(STATUSES.length * limits.statusShards);
  for (const letter of '0123456789abcdefghjkmnpqrstvwxyz') expect(all).toContain(statusShard('failed', letter));
});

test('the oldest open task is found in whatever partition it lies', async () => {
  const letters = [...'0123456789'];
  for (const oldest of letters) {
    for (const status of OPEN) {
      const { records, dynamoDb } = memoryEngine(() => T0 + 60_000);
      expect(await oldestOpen(dynamoDb, TABLE)).toBeUndefined();
      for (const letter of letters) records.set(at(`a${letter}`, T0 + (letter === oldest ? 1 : 2), status));
      for (const letter of letters) records.set(at(`b${letter}`, T0, 'completed'));
      expect(await oldestOpen(dynamoDb, TABLE)).toBe(T0 + 1);
    }
  }
});
