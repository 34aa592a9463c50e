import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ended, modernRequest, poll } from '../../../support/clients.ts';
import { FINISH, INVOKE, START } from './cloud.ts';
import { LOST_RUN, RUN, useExpressCloud } from './express.ts';
import { MINUTE, SECONDS, settles } from './row.ts';

/** The rows of the crash table that differ on Express: a first round. */
const { cloud, url, now, start, get, stored, runsOf, orphanOf, sweepAfter, pass, quiet, startedAgain } =
  useExpressCloud();

test('a task without a fault runs once, in two states, and no call reads its run', async () => {
  const mark = cloud().calls.mark();
  const taskId = await start('echo', { a: 1 });
  expect(await poll(url(), taskId, ended)).toMatchObject({
    status: 'completed',
    result: { structuredContent: { a: 1 } },
  });
  await quiet();
  expect(runsOf(taskId)).toMatchObject([{ status: 'SUCCEEDED', states: ['Run', 'Finish'] }]);
  const asked = cloud()
    .calls.since(mark)
    .filter(({ service }) => service === 'states');
  expect(asked.map(({ operation }) => operation)).toEqual(['StartExecution']);
});

test('row 2: on Express, a keyed start is refused: a sweep starts it, and no repeat does', async ({ task }) => {
  const meta = { 'mcp-task-server/idempotencyKey': 'r'.repeat(32) };
  const params = { name: 'echo', arguments: { a: 2 } };
  const call = () => modernRequest(url(), 'tools/call', params, { meta });
  cloud().faults.add({ ...START, do: { error: 'ThrottlingException' } });
  const since = now();
  expect((await call()).status).toBe(429);
  const { taskId } = (await call()).body.result;
  await quiet();
  expect(runsOf(taskId)).toEqual([]);
  await sweepAfter(MINUTE);
  await quiet();
  settles(task, { row: 2, tookMs: now() - since, boundMs: 2 * MINUTE });
  expect(runsOf(taskId)).toHaveLength(1);
  expect(await get(taskId)).toMatchObject({ status: 'completed', result: { structuredContent: { a: 2 } } });
});

test('on Express, a keyed call whose put loses its answer starts its task, once', async () => {
  const meta = { 'mcp-task-server/idempotencyKey': 'p'.repeat(32) };
  const params = { name: 'echo', arguments: { a: 3 } };
  cloud().faults.add({ service: 'dynamodb', operation: 'PutItem', caller: 'ServerEndpoint', at: 'after', do: 'drop' });
  const { taskId } = (await modernRequest(url(), 'tools/call', params, { meta })).body.result;
  expect(await poll(url(), taskId, ended)).toMatchObject({ status: 'completed' });
  await quiet();
  expect(runsOf(taskId)).toHaveLength(1);
});

test('row 3: on Express, the answer to the start is lost: two runs, and the first end counts', async ({ task }) => {
  cloud().faults.add({ ...START, at: 'after', do: 'drop' });
  const since = now();
  const taskId = await start('event');
  const shown = await poll(url(), taskId, ended);
  settles(task, { row: 3, tookMs: now() - since, boundMs: SECONDS });
  await quiet();
  expect(
    runsOf(taskId)
      .map(({ states }) => states.at(-1))
      .toSorted(),
  ).toEqual(['Finish', 'Superseded']);
  expect(await get(taskId)).toEqual({ ...shown, pollIntervalMs: expect.any(Number) });
});

test('row 4: on Express, the endpoint dies before the start: the sweep starts it', async ({ task }) => {
  cloud().faults.add({ ...START, do: 'killWorker' });
  const since = now();
  const { taskId } = await orphanOf('echo', { a: 1 });
  expect(runsOf(taskId)).toEqual([]);
  await startedAgain(taskId);
  settles(task, { row: 4, tookMs: now() - since, boundMs: LOST_RUN });
  await quiet();
  expect(await get(taskId)).toMatchObject({ status: 'completed', result: { structuredContent: { a: 1 } } });
  expect((await stored(taskId)).events).toMatchObject([{}, { what: 'restarted', by: 'reconciler' }, {}]);
});

test('row 5: on Express, Step Functions runs it twice: the second end changes nothing', async ({ task }) => {
  cloud().faults.add({ ...RUN, do: 'double' });
  const since = now();
  const taskId = await start('event');
  const shown = await poll(url(), taskId, ended);
  // This name keeps a large result of the other run apart.
  expect(shown.result.structuredContent.event.task).toMatchObject({
    attempt: 0,
    run: expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
  settles(task, { row: 5, tookMs: now() - since, boundMs: SECONDS });
  await quiet();
  expect(
    runsOf(taskId)
      .map(({ states }) => states.at(-1))
      .toSorted(),
  ).toEqual(['Finish', 'Superseded']);
  expect(await get(taskId)).toEqual({ ...shown, pollIntervalMs: expect.any(Number) });
});

test('row 6: on Express, a call is repeated 20 times under its key: one task, one run', async ({ task }) => {
  const since = now();
  const meta = { 'mcp-task-server/idempotencyKey': 'k'.repeat(32) };
  const params = { name: 'echo', arguments: { a: 6 } };
  const call = async () => (await modernRequest(url(), 'tools/call', params, { meta })).body.result.taskId as string;
  const ids = await Promise.all(Array.from({ length: 20 }, call));
  const taskId = ids[0] ?? '';
  expect(new Set(ids)).toEqual(new Set([taskId]));
  settles(task, { row: 6, tookMs: now() - since, boundMs: SECONDS });
  expect(await poll(url(), taskId, ended)).toMatchObject({ status: 'completed' });
  await quiet();
  expect(runsOf(taskId)).toHaveLength(1);
});

test('row 8: on Express, Lambda throttles every try of a run: its round starts again', async ({ task }) => {
  const busy = cloud().faults.add({ ...INVOKE, do: { error: 'TooManyRequestsException', status: 429 }, times: 10_000 });
  const since = now();
  const taskId = await start('echo');
  await busy.struck;
  cloud().clock.advance(270_000);
  await quiet();
  busy.remove();
  const [run, ...others] = runsOf(taskId);
  expect([run?.status, run?.states.slice(-2), others]).toEqual(['SUCCEEDED', ['RunFailed', 'Superseded'], []]);
  expect(await get(taskId)).toMatchObject({ status: 'working' });
  await sweepAfter(0);
  const { dueAt = 0 } = await stored(taskId);
  await pass(dueAt - now(), async () => runsOf(taskId).length > 1);
  settles(task, { row: 8, tookMs: now() - since, boundMs: LOST_RUN });
  await quiet();
  expect(await get(taskId)).toMatchObject({ status: 'completed' });
});

test('row 8: on Express, and until the deadline: failed, as every reader sees', async ({ task }) => {
  const busy = cloud().faults.add({ ...INVOKE, do: { error: 'TooManyRequestsException', status: 429 }, times: 10_000 });
  const taskId = await start('sleep', { ms: 1 });
  const { deadlineAt } = await stored(taskId);
  await busy.struck;
  cloud().clock.advance(deadlineAt + 1 - now());
  const shown = await poll(url(), taskId, ended);
  busy.remove();
  settles(task, { row: 8, tookMs: now() - deadlineAt, boundMs: SECONDS, sinceDeadline: true });
  expect(shown).toMatchObject({
    status: 'failed',
    error: { data: { reason: expect.stringMatching(/States.Timeout|DeadlineExceeded/) } },
  });
});

test('row 11: on Express, the last write fails until the run is over: the round starts again', async ({ task }) => {
  const failing = cloud().faults.add({ ...FINISH, do: { error: 'InternalServerError', status: 500 }, times: 10_000 });
  const since = now();
  const taskId = await start('echo', { a: 1 });
  await quiet();
  expect(runsOf(taskId)).toMatchObject([{ status: expect.stringMatching(/FAILED|TIMED_OUT/) }]);
  failing.remove();
  await startedAgain(taskId);
  settles(task, { row: 11, tookMs: now() - since, boundMs: LOST_RUN });
  await quiet();
  expect(await get(taskId)).toMatchObject({ status: 'completed', result: { structuredContent: { a: 1 } } });
});

test.for([
  ['before it begins', 'drop'],
  ['after its tool has begun', { killAfterMs: 500 }],
] as const)('row 13: on Express, its run is lost %s: the round starts again', async ([_, fault], { task }) => {
  const lost = cloud().faults.add({ ...RUN, do: fault });
  const since = now();
  const taskId = await start('slow_promise');
  await lost.struck;
  await quiet();
  expect(await get(taskId)).toMatchObject({ status: 'working' });
  await startedAgain(taskId);
  settles(task, { row: 13, tookMs: now() - since, boundMs: LOST_RUN });
  await quiet();
  expect(await get(taskId)).toMatchObject({ status: 'completed', result: { structuredContent: { n: 1 } } });
});

test('row 13: on Express, its run is lost after a step: the next does not repeat the step', async ({ task }) => {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-express-'));
  const file = join(folder, 'charged');
  const charges = () => readFileSync(file, { encoding: 'utf8', flag: 'a+' });
  const charged = Promise.withResolvers<void>();
  cloud().faults.add({ ...RUN, do: { loseAfter: charged.promise } });
  const since = now();
  const taskId = await start('charge_then_crash', { file, ms: 2_500 });
  await expect.poll(charges).toBe('charged\n');
  charged.resolve();
  await quiet();
  expect(runsOf(taskId)).toMatchObject([{ status: 'ABORTED' }]);
  await startedAgain(taskId);
  settles(task, { row: 13, tookMs: now() - since, boundMs: LOST_RUN });
  await quiet();
  // The new run is at attempt 0, too.
  expect(await get(taskId)).toMatchObject({ status: 'completed', result: { structuredContent: { attempt: 0 } } });
  expect(charges()).toBe('charged\n');
  rmSync(folder, { recursive: true });
});

test('row 13: on Express, and the next run is lost, too: started again 5 to 7 minutes later', async ({ task }) => {
  cloud().faults.add({ ...RUN, do: 'drop', times: 2 });
  const taskId = await start('echo', { a: 1 });
  await startedAgain(taskId);
  const since = now();
  await sweepAfter(5 * MINUTE);
  expect(runsOf(taskId)).toHaveLength(2);
  const { dueAt = 0 } = await stored(taskId);
  await pass(dueAt - now(), async () => runsOf(taskId).length > 2);
  settles(task, { row: 13, tookMs: now() - since, boundMs: LOST_RUN });
  await quiet();
  expect(await get(taskId)).toMatchObject({ status: 'completed' });
});

test('row 13: on Express, and the deadline comes first: failed, as every reader sees', async ({ task }) => {
  cloud().faults.add({ ...RUN, do: 'drop' });
  const taskId = await start('sleep', { ms: 1 });
  const { deadlineAt } = await stored(taskId);
  await pass(deadlineAt + 30_000 - now(), async () => (await stored(taskId)).status === 'failed');
  settles(task, { row: 13, tookMs: now() - deadlineAt, boundMs: 30_000 + MINUTE, sinceDeadline: true });
  expect(await get(taskId)).toMatchObject({ status: 'failed', error: { data: { reason: 'DeadlineExceeded' } } });
});
