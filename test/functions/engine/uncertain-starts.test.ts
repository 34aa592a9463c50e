import { expect, test } from 'vitest';
import { startFirst, startNext } from '../../../functions/engine/start-round.ts';
import type { Engine } from '../../../functions/tasks/engines.ts';
import { TooManyStarts } from '../../../functions/tasks/errors.ts';
import { newTaskKey } from '../../../functions/tasks/ids.ts';
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
