import { expect, test } from 'vitest';
import { receiveSignal } from '../../../functions/engine/receive.ts';
import { startIfCrashed } from '../../../functions/engine/resume.ts';
import { newTaskKey } from '../../../functions/tasks/ids.ts';
import { limits } from '../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import { memoryEngine } from '../../support/engine/memory.ts';

const T0 = 1_700_000_000_000;
const HOUR = 3_600_000;
const task = { tool: 't', ttl: 24 * HOUR, timeout: 10 * HOUR, accepts: [], legacy: false };
const made = create(newTaskKey({ kind: 'anonymous' }, T0), task, T0);
const until = T0 + HOUR;
/** Waits for an hour. */
const waiting: TaskRecord = {
  ...made,
  ...{ status: 'waiting', asked: '{}', arguments: '{}', waits: JSON.stringify({ a: { kind: 'time', until } }) },
};

function serverWith(record: TaskRecord, now: number) {
  const server = memoryEngine(() => now);
  server.records.set(record);
  const context = {
    ...server,
    toolEngine: () => record.engine ?? ('standard' as const),
    log: () => {},
    now: () => now,
  };
  return { ...server, context, stored: () => server.records.get(record.taskId) };
}

test.each<[string, TaskRecord, number, boolean]>([
  ['15 seconds after its wait', waiting, until + limits.restartAfter, true],
  ['a moment before: the reader of the stream is about to do so', waiting, until + limits.restartAfter - 1, false],
  [
    'right after a change: the reader of the stream is about to see it',
    { ...waiting, updatedAt: until + 1 },
    until + limits.restartAfter,
    false,
  ],
  ['after the deadline', { ...waiting, deadlineAt: until }, until + limits.restartAfter, false],
  [
    'on Express, whose start may have been made: that is for the sweep',
    { ...made, round: 2, engine: 'express', arguments: '{}' },
    T0 + limits.restartAfter,
    false,
  ],
])('a read begins the round of a task %s', async (_when, record, now, begins) => {
  const { context, executions, stored } = serverWith(record, now);
  await startIfCrashed([record], context);
  expect(executions.all()).toHaveLength(begins ? 1 : 0);
  expect(stored()).toMatchObject(begins ? { status: 'working', round: 2 } : { ...record });
});

test('a signal that loses 25 races with other writers gives up, and says so', async () => {
  const { context } = serverWith(waiting, T0);
  const slept: number[] = [];
  const store = { get: context.store.get, applyBlind: async () => false };
  const sending = receiveSignal(
    {
      read: async () => waiting,
      name: 'a',
      until,
      signal: (at) => ({ body: 1, at }),
      sleep: async (ms) => void slept.push(ms),
    },
    { ...context, store },
  );
  await expect(sending).rejects.toMatchObject({ message: 'The task is changing too fast: try again' });
  expect(slept).toHaveLength(25);
});

test('a signal for a task past its ttl, before its deadline, changes nothing', async () => {
  const { context, did } = serverWith(waiting, T0 + 120_000);
  const receiving = { name: 'a', until, signal: (at: number) => ({ body: 1, at }), sleep: async () => {} };
  const read = async (): Promise<TaskRecord> => ({ ...waiting, ttl: 60_000 });
  expect(await receiveSignal({ ...receiving, read }, context)).toMatchObject({ outcome: 'over' });
  expect(did).toEqual([]);
});

test('a signal is not stored while S3 is out of reach: its sender may try again', async () => {
  const { arguments: _, ...rest } = waiting;
  const record: TaskRecord = { ...rest, inputRef: 'a.1' };
  const { context, did, objects } = serverWith(record, T0);
  objects.state.down = 'SlowDown';
  const where: unknown[] = [];
  const log = (event: string, facts: Readonly<Record<string, unknown>>) => void where.push([event, facts.where]);
  const receiving = { name: 'a', until, signal: (at: number) => ({ body: 1, at }), sleep: async () => {} };
  const sending = receiveSignal({ ...receiving, read: async () => record }, { ...context, log });
  await expect(sending).rejects.toMatchObject({ data: { reason: 'Unavailable' } });
  expect([did, where]).toEqual([[], [['unexpected_error', 'reading input']]]);
});
