import { expect, test } from 'vitest';
import { reportsInTurn } from '../../../../functions/mcp/stream/reports-in-turn.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';

/** Tasks that work, and those of them whose reports a read of them all has read. */
function world(count: number) {
  const records = Array.from({ length: count }, (_, n) => ({ taskId: `${n}`, status: 'working' }) as TaskRecord);
  const read: string[][] = [];
  const add = reportsInTurn({
    async withReports(some) {
      read.push(some.map(({ taskId }) => taskId));
      return some.map((record) => ({ ...record, statusMessage: 'half' }));
    },
  });
  return { records, read, add };
}

test('every report comes as long as there is room for all (E-26)', async () => {
  const { records, add } = world(72);
  for (const seen of [await add(records, 72), await add(records, 72)]) {
    expect(seen.map(({ taskId }) => taskId)).toEqual(records.map(({ taskId }) => taskId));
    expect(seen.every(({ statusMessage }) => statusMessage === 'half')).toBe(true);
  }
});

test('of more tasks the reports come in turn, and no read costs more than its bound (E-26)', async () => {
  const { records, read, add } = world(limits.listenTasks);
  const each = 2 * (limits.listenUnits - limits.listenTasks);
  const rounds = Math.ceil(limits.listenTasks / each);
  for (let round = 0; round < rounds; round++) await add([...records].reverse(), limits.listenTasks);
  expect(read.map(({ length }) => length)).toEqual(Array.from({ length: rounds }, () => each));
  expect(new Set(read.flat()).size).toBe(limits.listenTasks);
});

test('what does not work has no report, and keys of no task take room, too', async () => {
  const { records, read, add } = world(30);
  const asking = records.map((record, n) => (n % 2 === 0 ? record : { ...record, status: 'input_required' as const }));
  expect((await add(asking, limits.listenTasks)).filter(({ statusMessage }) => statusMessage === 'half').length).toBe(
    15,
  );
  await add(asking, limits.listenUnits + 1);
  expect(read.map(({ length }) => length)).toEqual([15, 0]);
});
