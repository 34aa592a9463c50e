import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { clientConfig } from '../../../../local/test/fixture.ts';
import type { FaultSpec } from '../../../../local/testing.ts';
import { ended, legacySession, modernRequest, poll } from '../../../support/clients.ts';
import { ACCEPT, EVENT, FINISH, INVOKE, START, STOP, useCrashCloud } from './cloud.ts';
import { ITS_ANSWER, MINUTE, SECONDS, settles } from './row.ts';

/** Rows 12 to 18 of the crash table: something goes wrong as a task ends. */
const { cloud, url, now, start, get, stored, runsOf, sweepAfter, records, stopRun, pass, quiet } = useCrashCloud();
const GRACE = 30_000;
const HOUR = 60 * MINUTE;

const cancel = (taskId: string) => modernRequest(url(), 'tasks/cancel', { taskId });
const answer = (taskId: string, content: object = ACCEPT.content) =>
  modernRequest(url(), 'tasks/update', { taskId, inputResponses: { 'r1.confirm': { ...ACCEPT, content } } });
async function asked(): Promise<string> {
  const taskId = await start('ask');
  await poll(url(), taskId, ({ status }) => status === 'input_required');
  return taskId;
}
/** Answered, and its worker died before the next round was started. */
async function answeredAndLost(): Promise<string> {
  const taskId = await asked();
  cloud().faults.add({ ...START, do: 'killWorker' });
  await answer(taskId).catch(() => undefined);
  expect(await stored(taskId)).toMatchObject({ status: 'working', round: 2 });
  return taskId;
}

/** A record of versions before the rule: today no ttl ends before the work. */
async function shortenTtl({ owner, taskId }: TaskRecord): Promise<void> {
  const update = {
    ...{ TableName: cloud().tables[0], Key: { owner, taskId }, UpdateExpression: 'SET #ttl = :ttl' },
    ...{ ExpressionAttributeNames: { '#ttl': 'ttl' }, ExpressionAttributeValues: { ':ttl': MINUTE } },
  };
  await DynamoDBDocumentClient.from(new DynamoDBClient(clientConfig(cloud()))).send(new UpdateCommand(update));
}

test('row 12: the last write is made, and its answer lost: made again, it finds the task over', async ({ task }) => {
  const since = now();
  cloud().faults.add({ ...FINISH, at: 'after', do: 'drop' });
  const taskId = await start('echo', { a: 1 });
  await quiet();
  settles(task, { row: 12, tookMs: now() - since, boundMs: SECONDS });
  expect(await get(taskId)).toMatchObject({ status: 'completed', result: { structuredContent: { a: 1 } } });
  expect(runsOf(taskId)).toMatchObject([{ status: 'SUCCEEDED', states: ['Run', 'Finish', 'Superseded'] }]);
});

test('row 13: its run is stopped from outside: the event fails the task', async ({ task }) => {
  const taskId = await start('spin', { file: '/dev/null' });
  const since = now();
  await stopRun(taskId);
  const shown = await poll(url(), taskId, ended);
  settles(task, { row: 13, tookMs: now() - since, boundMs: SECONDS });
  const message = 'The run of the tool ended without a result';
  const error = { code: -32603, message, data: { reason: 'States.TaskFailed' } };
  expect(shown).toMatchObject({ status: 'failed', error });
  expect(await stored(taskId)).toMatchObject({ status: 'failed' });
});

test('row 13: and the event is lost, before the first check of the sweep: it fails the task', async ({ task }) => {
  const since = now();
  const taskId = await start('spin', { file: '/dev/null' });
  const lost = cloud().faults.add({ ...EVENT, do: 'drop' });
  await stopRun(taskId);
  await lost.struck;
  await pass(MINUTE, async () => (await stored(taskId)).status === 'failed');
  settles(task, { row: 13, tookMs: now() - since, boundMs: 2 * MINUTE });
});

test('row 13: and the event is lost, after that check: failed by the next one, 5 minutes later', async ({ task }) => {
  const taskId = await start('spin', { file: '/dev/null' });
  await sweepAfter(MINUTE);
  const { dueAt = 0 } = await stored(taskId);
  const lost = cloud().faults.add({ ...EVENT, do: 'drop' });
  await stopRun(taskId);
  await lost.struck;
  const since = now();
  await pass(dueAt - now(), async () => (await stored(taskId)).status === 'failed');
  settles(task, { row: 13, tookMs: now() - since, boundMs: 6 * MINUTE });
  const shown = await get(taskId);
  expect(shown).toMatchObject({ status: 'failed', error: { data: { reason: 'States.TaskFailed' } } });
  await modernRequest(url(), 'tasks/cancel', { taskId });
  expect(await get(taskId)).toEqual(shown);
});

test('row 13: and the event is lost, and the deadline comes before the next check', async ({ task }) => {
  const taskId = await start('spin', { file: '/dev/null' });
  const { deadlineAt } = await stored(taskId);
  await sweepAfter(deadlineAt - MINUTE - now());
  expect(await stored(taskId)).toMatchObject({ status: 'working', seenRound: 1, dueAt: deadlineAt + GRACE });
  const lost = cloud().faults.add({ ...EVENT, do: 'drop' });
  await stopRun(taskId);
  await lost.struck;
  cloud().clock.hold();
  cloud().clock.advance(deadlineAt + GRACE - now());
  expect(await get(taskId)).toMatchObject({ status: 'working' });
  cloud().clock.advance(1);
  const shown = await get(taskId);
  cloud().clock.resume();
  expect(shown).toMatchObject({ status: 'failed', error: { data: { reason: 'DeadlineExceeded' } } });
  settles(task, { row: 13, tookMs: GRACE + 1, boundMs: GRACE + 1, sinceDeadline: true });
  await pass(0, async () => (await stored(taskId)).status === 'failed');
  settles(task, { row: 13, tookMs: now() - deadlineAt, boundMs: GRACE + MINUTE, sinceDeadline: true });
  expect(await get(taskId)).toEqual(shown);
});

const RACES = 100;
const AT_ONCE = 10;
async function inBatches<T>(run: (i: number) => Promise<T>): Promise<T[]> {
  const all: T[] = [];
  for (let i = 0; i < RACES; i += AT_ONCE)
    all.push(...(await Promise.all(Array.from({ length: AT_ONCE }, (_, j) => run(i + j)))));
  return all;
}

test('row 14: cancels race results, 100 times: the first write wins for good (C-10, C-27)', async ({ task }) => {
  const client = await legacySession(url());
  const all = await inBatches(async (i) => {
    // One in five is surely cancelled, one in five surely ends before; the rest are spread over the time of a run.
    const sure = i % 5 === 0;
    const args = { ms: sure ? 2_000 : 0 };
    const created = await client.request('tools/call', { name: 'sleep', arguments: args, task: {} });
    const { taskId } = created.body.result.task;
    if (!sure) await sleep((i % AT_ONCE) * 30);
    if (i % 5 === 1) await poll(url(), taskId, ended);
    const since = now();
    const { error } = (await client.request('tasks/cancel', { taskId })).body;
    const tookMs = now() - since;
    if (error !== undefined) expect(error.code).toBe(-32602);
    const status = error === undefined ? 'cancelled' : 'completed';
    const { body: shown } = await client.request('tasks/get', { taskId });
    expect(shown.result.status).toBe(status);
    return { taskId, tookMs, status, shown: shown.result };
  });
  settles(task, { row: 14, tookMs: Math.max(...all.map(({ tookMs }) => tookMs)), boundMs: ITS_ANSWER });
  await quiet();
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set(['cancelled', 'completed']));
  for (const { taskId, status, shown } of all) {
    const record = await stored(taskId);
    expect(record.status).toBe(status);
    expect('result' in record).toBe(status === 'completed');
    expect((await client.request('tasks/get', { taskId })).body.result).toMatchObject({
      ...shown,
      pollInterval: expect.any(Number),
    });
  }
});

test('row 15: a result comes after the cancel, whose stop was lost: it is dropped', async ({ task }) => {
  const tool = Promise.withResolvers<void>();
  const called = cloud().faults.add({ ...INVOKE, do: { run: () => tool.promise } });
  const taskId = await start('echo');
  await called.struck;
  const lost = cloud().faults.add({ ...STOP, do: 'drop', times: 3 });
  const since = now();
  await cancel(taskId);
  expect(lost.hits).toBe(3);
  tool.resolve();
  await quiet();
  settles(task, { row: 15, tookMs: now() - since, boundMs: SECONDS });
  expect(runsOf(taskId)).toMatchObject([{ status: 'SUCCEEDED', states: ['Run', 'Finish', 'Superseded'] }]);
  const task_ = await get(taskId);
  expect(task_).toMatchObject({ status: 'cancelled' });
  expect(task_).not.toHaveProperty('result');
});

test.for<[string, FaultSpec, string]>([
  ['the stop is refused', { ...STOP, do: { error: 'ThrottlingException' }, times: 20 }, 'RUNNING'],
  ['the endpoint dies before the stop', { ...STOP, do: 'killWorker' }, 'RUNNING'],
  ['the endpoint dies after the stop', { ...STOP, do: 'killWorker', at: 'after' }, 'ABORTED'],
])('row 15: a task is cancelled, and %s: the sweep stops the run', async ([, fault, status], { task }) => {
  const tool = Promise.withResolvers<void>();
  const called = cloud().faults.add({ ...INVOKE, do: { run: () => tool.promise } });
  const taskId = await start('echo');
  await called.struck;
  const added = cloud().faults.add(fault);
  await cancel(taskId).catch(() => undefined);
  const since = now();
  expect(added.hits).toBeGreaterThan(0);
  cloud().faults.clear();
  expect(await stored(taskId)).toMatchObject({ status: 'cancelled', dueAt: expect.any(Number) });
  expect(runsOf(taskId)).toMatchObject([{ status }]);
  await pass(MINUTE, async () => !('due' in (await stored(taskId))));
  settles(task, { row: 15, tookMs: now() - since, boundMs: 2 * MINUTE });
  expect(runsOf(taskId)).toMatchObject([{ status: 'ABORTED' }]);
  expect(await get(taskId)).toMatchObject({ status: 'cancelled' });
  tool.resolve();
});

test('row 16: two answers and a cancel race, 100 times: one answer counts (F-09)', async ({ task }) => {
  const all = await inBatches(async (i) => {
    const taskId = await asked();
    const since = now();
    // One in five surely goes on, one in five is surely cancelled.
    if (i % 5 === 1) await cancel(taskId);
    const answers = [answer(taskId, { ok: true }), answer(taskId, { ok: false })];
    if (i % 5 > 1) await sleep(i % AT_ONCE).then(() => cancel(taskId));
    for (const { body } of await Promise.all(answers))
      expect(body.result, JSON.stringify(body)).toMatchObject({ resultType: 'complete' });
    const shown = await poll(url(), taskId, ended);
    return { taskId, shown, tookMs: now() - since };
  });
  settles(task, { row: 16, tookMs: Math.max(...all.map(({ tookMs }) => tookMs)), boundMs: SECONDS });
  await quiet();
  expect(new Set(all.map(({ shown }) => shown.status))).toEqual(new Set(['cancelled', 'completed']));
  for (const { taskId, shown } of all) {
    const runs = runsOf(taskId).map(({ name }) => name);
    expect([[`${taskId}-r1`], [`${taskId}-r1`, `${taskId}-r2`]]).toContainEqual(runs);
    if (shown.status === 'completed') {
      expect(runs).toHaveLength(2);
      const { answer: counted, round } = shown.result.structuredContent;
      expect([{ ok: true }, { ok: false }]).toContainEqual(counted.content);
      expect(round).toBe(2);
    } else expect(shown).not.toHaveProperty('result');
    expect(await get(taskId)).toMatchObject({ ...shown, pollIntervalMs: expect.any(Number) });
  }
});

test('row 16: answered, and not started again: started by a poll 15 seconds later', async ({ task }) => {
  const taskId = await answeredAndLost();
  await get(taskId);
  expect(runsOf(taskId)).toHaveLength(1);
  const since = now();
  cloud().clock.advance(15_000);
  expect(await poll(url(), taskId, ended)).toMatchObject({ status: 'completed' });
  settles(task, { row: 16, tookMs: now() - since, boundMs: 15_000 + SECONDS });
  expect(runsOf(taskId)).toHaveLength(2);
});

test('row 16: answered, but not restarted: the sweep restarts it if no client polls', async ({ task }) => {
  const taskId = await answeredAndLost();
  const since = now();
  await pass(MINUTE, async () => runsOf(taskId).length === 2);
  settles(task, { row: 16, tookMs: now() - since, boundMs: 2 * MINUTE });
  expect(await poll(url(), taskId, ended)).toMatchObject({
    status: 'completed',
    result: { structuredContent: { round: 2 } },
  });
});

test('row 17: no answer: failed to readers at deadline and grace exactly, then by the sweep', async ({ task }) => {
  const taskId = await asked();
  const { deadlineAt } = await stored(taskId);
  cloud().clock.hold();
  cloud().clock.advance(deadlineAt + GRACE - now());
  expect(await get(taskId)).toMatchObject({ status: 'input_required' });
  cloud().clock.advance(1);
  const shown = await get(taskId);
  cloud().clock.resume();
  expect(shown).toMatchObject({ status: 'failed', statusMessage: 'No answer came before the deadline' });
  settles(task, { row: 17, tookMs: GRACE + 1, boundMs: GRACE + 1, sinceDeadline: true });
  await pass(0, async () => (await stored(taskId)).status === 'failed');
  settles(task, { row: 17, tookMs: now() - deadlineAt, boundMs: GRACE + MINUTE, sinceDeadline: true });
  expect(await get(taskId)).toEqual(shown);
});

test('row 18: its ttl ends while it runs: no reader finds it, its result makes no new record', async ({ task }) => {
  const client = await legacySession(url());
  const params = { name: 'spin', arguments: { file: '/dev/null' }, task: { ttl: MINUTE } };
  const { taskId } = (await client.request('tools/call', params)).body.result.task;
  cloud().clock.advance(MINUTE);
  expect((await client.request('tasks/get', { taskId })).body.result.status).toBe('working');
  await shortenTtl(await stored(taskId));
  expect((await client.request('tasks/get', { taskId })).body.error.code).toBe(-32602);
  expect(await stored(taskId)).toMatchObject({ status: 'working' });
  const since = now();
  cloud().clock.advance(25 * HOUR);
  expect(await cloud().sweepExpired()).toBeGreaterThan(0);
  await quiet();
  settles(task, { row: 18, tookMs: now() - since - 25 * HOUR, boundMs: SECONDS });
  expect(runsOf(taskId)).toMatchObject([{ states: ['Run', 'Finish', 'Superseded'] }]);
  expect((await records()).filter((record) => record.taskId === taskId)).toEqual([]);
});
