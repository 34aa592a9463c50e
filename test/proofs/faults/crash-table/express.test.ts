import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Cloud, startCloud } from '../../../../local/cloud.ts';
import { ended, modernRequest, poll } from '../../../support/clients.ts';
import { useAssembly } from '../../../support/cloud.ts';
import { worldOf } from '../world.ts';
import { ACCEPT, FINISH, INVOKE, START, useCrashCloud } from './cloud.ts';
import { MINUTE, SECONDS, settles } from './row.ts';

/** The rows of the crash table that differ on Express. */
const assembly = useAssembly('test/support/apps/express-app.ts');
const standard = useAssembly('test/support/apps/app.ts');
const TIME_SCALE = 100;
const { cloud, url, now, start, get, stored, runsOf, orphanOf, sweepAfter, pass, quiet } = useCrashCloud({
  assembly,
  timeScale: TIME_SCALE,
});
const RUN = { service: 'states', operation: 'RunExpress' } as const;
/** The first sweep after a minute, and five and a half minutes later the one that starts the round again. */
const LOST_RUN = 8 * MINUTE;

/** The sweep starts the round again, and not before its run is probably over. */
async function startedAgain(taskId: string): Promise<void> {
  await sweepAfter(MINUTE);
  await quiet();
  const runs = runsOf(taskId).length;
  await sweepAfter(4 * MINUTE);
  expect(runsOf(taskId)).toHaveLength(runs);
  const { dueAt = 0 } = await stored(taskId);
  await pass(dueAt - now(), async () => runsOf(taskId).length > runs);
}
const asked = async () => {
  const taskId = await start('ask');
  await poll(url(), taskId, ({ status }) => status === 'input_required');
  return taskId;
};
const answer = (taskId: string) =>
  modernRequest(url(), 'tasks/update', { taskId, inputResponses: { 'r1.confirm': ACCEPT } });

test('a task that nothing strikes runs once, in two states, and nothing asks about its run', async () => {
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

test('row 3: on Express, the answer to the start is lost: two runs, and the first end counts', async ({ task }) => {
  cloud().faults.add({ ...START, at: 'after', do: 'drop' });
  const since = now();
  const taskId = await start('event');
  const told = await poll(url(), taskId, ended);
  settles(task, { row: 3, tookMs: now() - since, boundMs: SECONDS });
  await quiet();
  expect(
    runsOf(taskId)
      .map(({ states }) => states.at(-1))
      .toSorted(),
  ).toEqual(['Finish', 'Superseded']);
  expect(await get(taskId)).toEqual({ ...told, pollIntervalMs: expect.any(Number) });
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
  const told = await poll(url(), taskId, ended);
  // By this name a large result of the other run lies elsewhere.
  expect(told.result.structuredContent.event.task).toMatchObject({
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
  expect(await get(taskId)).toEqual({ ...told, pollIntervalMs: expect.any(Number) });
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
  expect(runsOf(taskId)).toMatchObject([{ status: 'SUCCEEDED', states: ['Run', 'RunFailed', 'Superseded'] }]);
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
  const told = await poll(url(), taskId, ended);
  busy.remove();
  settles(task, { row: 8, tookMs: now() - deadlineAt, boundMs: SECONDS, sinceDeadline: true });
  expect(told).toMatchObject({
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
  cloud().faults.add({ ...RUN, do: { killAfterMs: 500 } });
  const since = now();
  const taskId = await start('charge_then_crash', { file, ms: 2_500 });
  await expect.poll(charges, { timeout: SECONDS }).toBe('charged\n');
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

test('row 15: on Express, a cancel stops no run: the tool ends when it looks, changing nothing', async ({ task }) => {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-express-'));
  const file = join(folder, 'stopped');
  const taskId = await start('spin', { file });
  await poll(url(), taskId, ({ status }) => status === 'working');
  const [mark, since] = [cloud().calls.mark(), now()];
  await modernRequest(url(), 'tasks/cancel', { taskId });
  await quiet();
  settles(task, { row: 15, tookMs: now() - since, boundMs: SECONDS });
  expect(readFileSync(file, 'utf8')).toMatch(/^stopped/);
  rmSync(folder, { recursive: true });
  expect(await get(taskId)).toMatchObject({ status: 'cancelled' });
  expect(runsOf(taskId)).toMatchObject([{ states: ['Run', 'Finish', 'Superseded'] }]);
  expect(
    cloud()
      .calls.since(mark)
      .map(({ operation }) => operation),
  ).not.toContain('StopExecution');
});

test('row 16: on Express, the endpoint dies before the next round: no poll or repeat starts it', async ({ task }) => {
  const taskId = await asked();
  const since = now();
  cloud().faults.add({ ...START, do: 'killWorker' });
  await answer(taskId).catch(() => undefined);
  cloud().clock.advance(20_000);
  expect(await get(taskId)).toMatchObject({ status: 'working' });
  await answer(taskId);
  expect(runsOf(taskId)).toHaveLength(1);
  await sweepAfter(MINUTE);
  settles(task, { row: 16, tookMs: now() - since, boundMs: 2 * MINUTE });
  await quiet();
  expect(await get(taskId)).toMatchObject({ status: 'completed', result: { structuredContent: { round: 2 } } });
});

test('row 16: on Express, the last answer is repeated 20 times: the round runs once', async ({ task }) => {
  const taskId = await asked();
  const since = now();
  await Promise.all(Array.from({ length: 10 }, () => answer(taskId)));
  for (let i = 0; i < 10; i++) await answer(taskId);
  settles(task, { row: 16, tookMs: now() - since, boundMs: SECONDS });
  await poll(url(), taskId, ended);
  await sweepAfter(MINUTE);
  await quiet();
  expect(runsOf(taskId)).toHaveLength(2);
});

test('row 22: on Express, the process of the embedded cloud is killed: the round starts again', async ({ task }) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'mcp-express-'));
  const options = { assembly, dataDir, movableClock: true, schedules: false, recordCalls: true };
  const before = await startCloud(options);
  const since = Date.now();
  const { body } = await modernRequest(`${before.url}/mcp`, 'tools/call', { name: 'slow_promise', arguments: {} });
  await before.stop();
  const after = await startCloud(options);
  try {
    const { sweep, quiet } = worldOf(after);
    for (const minutes of [1, 5.5]) {
      expect(after.stepFunctions.executions()).toEqual([]);
      after.clock.advance(minutes * MINUTE + 1_000);
      await sweep();
    }
    await quiet();
    settles(task, { row: 22, tookMs: after.clock.now() - since, boundMs: LOST_RUN });
    const { taskId } = body.result;
    const told = (await modernRequest(`${after.url}/mcp`, 'tasks/get', { taskId })).body.result;
    expect(told).toMatchObject({ status: 'completed', result: { structuredContent: { n: 1 } } });
  } finally {
    await after.stop();
    rmSync(dataDir, { recursive: true });
  }
}, 60_000);

/** A server whose tools change their engine by a deployment: the tasks it has then, and the server after it. */
async function redeployed<T>(
  from: string,
  to: string,
  make: (server: Cloud) => Promise<T>,
  check: (made: T, server: Cloud) => Promise<void>,
) {
  const dataDir = mkdtempSync(join(tmpdir(), 'mcp-express-'));
  const options = { dataDir, movableClock: true, schedules: false, recordCalls: true };
  try {
    const before = await startCloud({ ...options, assembly: from });
    const made = await make(before).finally(() => before.stop());
    const after = await startCloud({ ...options, assembly: to });
    await check(made, after).finally(() => after.stop());
  } finally {
    rmSync(dataDir, { recursive: true });
  }
}
const callOn = async ({ url }: Cloud, name: string, args: object = {}): Promise<string> =>
  (await modernRequest(`${url}/mcp`, 'tools/call', { name, arguments: args })).body.result.taskId;
const getOn = async ({ url }: Cloud, taskId: string) =>
  (await modernRequest(`${url}/mcp`, 'tasks/get', { taskId })).body.result;

test('row 23: its tool moves to Express: what runs fails, what waits goes on there', async ({ task }) => {
  const make = async (server: Cloud) => {
    const waits = await callOn(server, 'ask');
    await poll(`${server.url}/mcp`, waits, ({ status }) => status === 'input_required');
    const runs = await callOn(server, 'sleep', { ms: 20_000 });
    const isRunning = () => server.stepFunctions.executions().some(({ name }) => name === `${runs}-r1`);
    await expect.poll(isRunning, { timeout: SECONDS }).toBe(true);
    return { waits, runs };
  };
  await redeployed(standard, assembly, make, async ({ waits, runs }, server) => {
    const since = server.clock.now();
    const told = await poll(`${server.url}/mcp`, runs, ended);
    expect(told).toMatchObject({ status: 'failed', error: { data: { reason: 'States.Runtime' } } });
    settles(task, { row: 23, tookMs: server.clock.now() - since, boundMs: SECONDS });
    await modernRequest(`${server.url}/mcp`, 'tasks/update', {
      taskId: waits,
      inputResponses: { 'r1.confirm': ACCEPT },
    });
    expect(await poll(`${server.url}/mcp`, waits, ended)).toMatchObject({ status: 'completed' });
    expect(server.stepFunctions.executions().filter(({ name }) => name === `${waits}-r2`)).toMatchObject([
      { arn: expect.stringContaining(':express:'), status: 'SUCCEEDED' },
    ]);
  });
}, 60_000);

test('row 23: its tool leaves Express: it starts again if it may be repeated, or fails', async ({ task }) => {
  const make = async (server: Cloud) => {
    server.faults.add({ ...RUN, do: 'drop', times: 2 });
    return { again: await callOn(server, 'returns', { json: '1' }), once: await callOn(server, 'echo', { a: 1 }) };
  };
  await redeployed(assembly, standard, make, async ({ again, once }, server) => {
    const since = server.clock.now();
    const { sweep, quiet } = worldOf(server);
    for (const minutes of [1, 5.5]) {
      expect(server.stepFunctions.executions()).toEqual([]);
      server.clock.advance(minutes * MINUTE + 1_000);
      await sweep();
    }
    await quiet();
    settles(task, { row: 23, tookMs: server.clock.now() - since, boundMs: LOST_RUN });
    expect(await getOn(server, again)).toMatchObject({ status: 'completed' });
    expect(await getOn(server, once)).toMatchObject({
      status: 'failed',
      error: { data: { reason: 'ExecutionDoesNotExist' } },
    });
    expect(server.stepFunctions.executions()).toMatchObject([{ name: `${again}-r1`, status: 'SUCCEEDED' }]);
  });
}, 60_000);
