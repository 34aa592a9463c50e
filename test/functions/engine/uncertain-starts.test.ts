import { expect, test } from 'vitest';
import { repeatFirst, startFirst, startNext } from '../../../functions/engine/start-round.ts';
import type { Engine } from '../../../functions/tasks/engines.ts';
import { TooManyStarts } from '../../../functions/tasks/errors.ts';
import { newTaskKey } from '../../../functions/tasks/ids.ts';
import { limits } from '../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import { memoryEngine } from '../../support/engine/memory.ts';

const T0 = 1_700_000_000_000;
const task = { tool: 't', ttl: 3_600_000, timeout: 60_000, accepts: [], legacy: false };
const made = create(newTaskKey({ kind: 'anonymous' }, T0), task, T0);
const lost = async () => Promise.reject(Object.assign(new Error(), { name: 'TimeoutError' }));

/** A server with this task, whose runs are started by `start`. */
function serverWith(record: TaskRecord, start: () => Promise<'taken' | undefined>, engine: Engine = 'standard') {
  const server = memoryEngine(() => T0);
  server.records.set(record);
  const logged: unknown[] = [];
  const context = {
    ...server,
    workflow: { ...server.workflow, start },
    toolEngine: () => engine,
    log: (event: string, { where }: Readonly<Record<string, unknown>>) => void logged.push([event, where]),
    now: () => T0,
  };
  return { ...server, context, logged, stored: () => server.records.get(record.taskId) };
}
type Server = ReturnType<typeof serverWith>;
const complete = ({ records }: Server, record: TaskRecord) =>
  records.set({ ...record, status: 'completed', result: '1', updatedAt: T0 });

test('a run whose name is taken has started itself, if its task has changed since (row 6)', async () => {
  const record = { ...made, digest: 'd' };
  const server: Server = serverWith(record, async () => {
    complete(server, record);
    return 'taken';
  });
  expect(await startFirst(record, '{}', server.context)).toEqual({ start: 'started' });
  expect(server.stored()).toMatchObject({ status: 'completed', result: '1' });
});

test('a lost start under a key fails nothing: a repeat may have started its run (row 6)', async () => {
  const record = { ...made, digest: 'd' };
  const { context, did, stored } = serverWith(record, lost);
  expect(await startFirst(record, '{}', context)).toMatchObject({ start: 'failed', failed: false });
  expect([did, stored()]).toEqual([[], record]);
});

test('a start whose answer is lost has started its run, if that has ended the task since (row 3)', async () => {
  const server: Server = serverWith(made, async () => {
    complete(server, made);
    return lost();
  });
  expect(await startFirst(made, '{}', server.context)).toEqual({ start: 'started' });
  expect(server.did).not.toContain('stop');
  expect(server.stored()).toMatchObject({ status: 'completed' });
});

test('a rerun whose start is refused fails, and is not withdrawn: its operator can see it', async () => {
  const record = { ...made, rerunOf: 'before' };
  const { context, stored } = serverWith(record, () => Promise.reject(new TooManyStarts(true)));
  expect(await startFirst(record, '{}', context)).toMatchObject({ start: 'failed', failed: true });
  expect(stored()).toMatchObject({ status: 'failed', failure: 'NotStarted', ttl: task.ttl });
});

test('a run is not stopped while it is not known whether its task has failed (row 3)', async () => {
  const { context, did, logged } = serverWith(made, lost);
  const store = { ...context.store, apply: lost };
  expect(await startFirst(made, '{}', { ...context, store })).toMatchObject({ start: 'failed', failed: false });
  expect(did).toEqual([]);
  expect(logged).toContainEqual(['unexpected_error', 'failing a task']);
});

test('a round on Express that began, or was surely refused, does not depend on the note of that', async () => {
  const record: TaskRecord = { ...made, round: 2, engine: 'express', arguments: '{}' };
  const refusal = new TooManyStarts(true);
  const begins = async (start: () => Promise<undefined>) => {
    const { context, logged } = serverWith(record, start, 'express');
    const outcome = startNext(record, { ...context, store: { ...context.store, applyBlind: lost } });
    return [await outcome.catch((error: unknown) => error), ...logged];
  };
  const noted = ['unexpected_error', 'noting a start'];
  expect(await begins(async () => undefined)).toEqual(['started', noted]);
  expect(await begins(async () => Promise.reject(refusal))).toEqual([refusal, noted]);
});

test('a name that is taken ends a task only if its run can be another one', async () => {
  const taken = async (more: Partial<TaskRecord>) => {
    const { context, stored } = serverWith({ ...made, ...more }, async () => 'taken');
    return [await startFirst({ ...made, ...more }, '{}', context), stored()?.failure];
  };
  expect(await taken({})).toEqual([{ start: 'started' }, undefined]);
  expect(await taken({ digest: 'd' })).toEqual([{ start: 'taken', failed: true }, 'KeyExpired']);
  expect(await taken({ rerunOf: 'before' })).toEqual([{ start: 'taken', failed: true }, 'NotStarted']);
});

test('a task under a key that ended before its run began is over, unless that run ended it', async () => {
  const record: TaskRecord = { ...made, digest: 'd' };
  const outcomeOf = async (seen: TaskRecord | undefined) => {
    const server: Server = serverWith(record, async () => {
      if (seen !== undefined) server.records.set(seen);
      return undefined;
    });
    return [await startFirst(record, '{}', server.context), server.did.includes('stop')];
  };
  const [begun] = made.events;
  const events = [begun, { ...begun, startedAt: T0 }] as TaskRecord['events'];
  const cancelled: TaskRecord = { ...record, status: 'cancelled' };
  expect(await outcomeOf(undefined)).toEqual([{ start: 'started' }, false]);
  expect(await outcomeOf(cancelled)).toEqual([{ start: 'over', seen: cancelled }, true]);
  expect(await outcomeOf({ ...record, status: 'failed', events })).toEqual([{ start: 'started' }, true]);
});

test('a start that was surely refused withdraws its task; one that may have run fails it', async () => {
  const refusedBy = async (certain: boolean, meanwhile?: TaskRecord) => {
    const server: Server = serverWith(made, () => {
      if (meanwhile !== undefined) server.records.set(meanwhile);
      return Promise.reject(new TooManyStarts(certain));
    });
    const { start, ...more } = await startFirst(made, '{}', server.context);
    const { status, ttl } = server.stored() ?? {};
    return { start, failed: 'failed' in more && more.failed, status, ttl };
  };
  expect(await refusedBy(true)).toEqual({ start: 'failed', failed: true, status: 'failed', ttl: 0 });
  expect(await refusedBy(false)).toEqual({ start: 'failed', failed: true, status: 'failed', ttl: task.ttl });
  const cancelled: TaskRecord = { ...made, status: 'cancelled', updatedAt: T0 + 1 };
  const ended = { start: 'failed', failed: false, status: 'cancelled', ttl: task.ttl };
  expect(await refusedBy(true, cancelled)).toEqual(ended);
  expect(await refusedBy(false, cancelled)).toEqual(ended);
});

test('a task that is gone after a lost start did not fail by it', async () => {
  const server: Server = serverWith(made, () => {
    server.records.clear();
    return lost();
  });
  expect(await startFirst(made, '{}', server.context)).toMatchObject({ start: 'failed', failed: false });
});

test('a refused or lost start on Standard notes nothing: its name keeps it from running twice', async () => {
  for (const error of [new TooManyStarts(true), new TooManyStarts(false)]) {
    const first = { ...made, digest: 'd' };
    const next: TaskRecord = { ...made, round: 2, arguments: '{}' };
    const refusing = (record: TaskRecord) => serverWith(record, () => Promise.reject(error));
    const [one, two] = [refusing(first), refusing(next)];
    await startFirst(first, '{}', one.context);
    await expect(startNext(next, two.context)).rejects.toBe(error);
    expect([one.stored(), two.stored(), one.did, two.did]).toEqual([first, next, [], []]);
  }
});

test('a round on Express whose tool is gone is not noted as begun, and is not read again', async () => {
  const record: TaskRecord = { ...made, round: 2, engine: 'express', arguments: '{}' };
  const { context, did, stored } = serverWith(record, async () => undefined, 'express');
  expect(await startNext(record, { ...context, toolEngine: () => undefined })).toBe('gone');
  expect([did, stored()]).toEqual([[], record]);
  expect(await startNext(record, context)).toBe('started');
  expect(did).toEqual(['applyBlind']);
});

test.each([
  ['until its first round is too late', limits.startWithin, 60_000, 1],
  ['but not after that', limits.startWithin + 1, 60_000, 0],
  ['up to its deadline', 999, 1_000, 1],
  ['but not at its deadline', 1_000, 1_000, 0],
])('a repeated call starts a task %s', async (_when, now, deadline, starts) => {
  let started = 0;
  const record = { ...made, digest: 'd', deadlineAt: T0 + deadline };
  const { context } = serverWith(record, async () => {
    started++;
    return undefined;
  });
  await repeatFirst(record, '{}', { ...context, now: () => T0 + now });
  expect(started).toBe(starts);
});
