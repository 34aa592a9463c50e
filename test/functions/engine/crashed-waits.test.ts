import { expect, onTestFinished, test, vi } from 'vitest';
import { receiveSignal } from '../../../functions/engine/receive.ts';
import { resumeRound, startIfCrashed } from '../../../functions/engine/resume.ts';
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

test('a read of many tasks begins the rounds of ten', async () => {
  const { context, records, executions } = serverWith(waiting, until + limits.restartAfter);
  const many = Array.from({ length: 12 }, () => ({ ...waiting, ...newTaskKey({ kind: 'anonymous' }, T0) }));
  for (const record of many) records.set(record);
  await startIfCrashed(many, context);
  expect(executions.all()).toHaveLength(10);
});

test('a wait that is over begins nothing once its task has ended', async () => {
  const { context, did } = serverWith(waiting, until);
  for (const status of ['cancelled', 'completed', 'working'] as const) {
    expect(await resumeRound({ ...waiting, status }, context)).toBe('waits');
  }
  expect(did).toEqual([]);
});

test('a signal that loses 25 races with other writers gives up, and says so', async () => {
  const { context } = serverWith(waiting, T0);
  const slept: number[] = [];
  const store = { get: context.store.get, applyBlind: async () => false };
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  onTestFinished(() => void vi.restoreAllMocks());
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
  expect(slept).toEqual(Array.from({ length: 25 }, (_, n) => 10 * n));
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

test('a signal for a task that is not there is undefined', async () => {
  const { context } = serverWith(waiting, T0);
  const receiving = { name: 'a', until, signal: (at: number) => ({ body: 1, at }), sleep: async () => {} };
  expect(await receiveSignal({ ...receiving, read: async () => undefined }, context)).toBe(undefined);
});

test('a signal says whether its round worked when it came', async () => {
  const signal = (at: number) => ({ body: 1, at });
  const storedOf = async (record: TaskRecord) => {
    const { context, stored } = serverWith(record, T0);
    await receiveSignal({ read: async () => record, name: 'a', until, signal, sleep: async () => {} }, context);
    return JSON.parse(stored()?.inputResponses?.['w.a'] ?? '');
  };
  expect(await storedOf(waiting)).toEqual({ round: 1, signal: { body: 1, at: T0 } });
  expect(await storedOf({ ...waiting, status: 'working' })).toEqual({
    ...{ round: 1, early: true, signal: { body: 1, at: T0 } },
  });
});

test.each([
  [0, 'stored'],
  [1, 'over'],
])('a signal %i ms after the deadline of its task is %s', async (late, outcome) => {
  const { context } = serverWith(waiting, made.deadlineAt + late);
  const receiving = { name: 'a', until: made.deadlineAt + HOUR, signal: (at: number) => ({ body: 1, at }) };
  const sending = receiveSignal({ ...receiving, read: async () => waiting, sleep: async () => {} }, context);
  expect((await sending)?.outcome).toBe(outcome);
});

test.each([
  ['leaves room for the waits that will be over', 215_000, true],
  ['takes that room', 225_000, false],
  ['is more than a run can get', 232_000, false],
])('a signal of 32 KB that with the arguments %s is stored, or refused', async (_what, bytes, fits) => {
  const record = { ...waiting, arguments: JSON.stringify('x'.repeat(bytes)) };
  const { context, stored } = serverWith(waiting, T0);
  const signal = (at: number) => ({ body: 'x'.repeat(32_000), at });
  const sending = receiveSignal({ read: async () => record, name: 'a', until, signal, sleep: async () => {} }, context);
  const outcome = await sending.then(
    (done) => done?.outcome,
    (error: Error) => error.message,
  );
  expect(outcome).toBe(fits ? 'stored' : 'The task has no room for this: what is sent to one task is bounded');
  expect(stored()?.signalled).toEqual(fits ? ['a'] : undefined);
});

test('waits whose time is over leave the record small, round after round: answers lie in S3', async () => {
  const { context, records, stored, inputs, executions } = serverWith(waiting, until);
  for (let round = 1; round <= 10; round++) {
    const names = Array.from({ length: 20 }, (_, i) => `person.${i}@example.com ${round}`);
    const waits = Object.fromEntries(names.map((name) => [name, { kind: 'link', until: T0 }]));
    const record: TaskRecord = { ...(stored() as TaskRecord), status: 'waiting', waits: JSON.stringify(waits) };
    records.set({ ...record, events: [] });
    expect(await resumeRound(record, context)).toBe('started');
    expect(JSON.stringify(stored()).length).toBeLessThan(2_500);
    expect(Object.keys((await inputs.whole(stored() as TaskRecord)).inputResponses ?? {})).toHaveLength(20 * round);
  }
  expect(executions.all()).toHaveLength(10);
});

test('waits whose answers cannot be stored begin nothing: the next poll or sweep tries again', async () => {
  const waits = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`person.${i}`, { kind: 'link', until: T0 }]));
  const large = { ...waiting, arguments: JSON.stringify('x'.repeat(1_400)), waits: JSON.stringify(waits) };
  const { context, stored, objects } = serverWith(large, until);
  objects.state.down = 'SlowDown';
  await expect(resumeRound(large, context)).rejects.toMatchObject({ data: { reason: 'Unavailable' } });
  expect(stored()).toMatchObject({ status: 'waiting', round: 1 });
  objects.state.down = undefined as never;
  expect(await resumeRound(large, context)).toBe('started');
});
