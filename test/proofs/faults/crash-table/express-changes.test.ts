import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Cloud, startCloud } from '../../../../local/cloud.ts';
import { ended, modernRequest, poll } from '../../../support/clients.ts';
import { useAssembly } from '../../../support/cloud.ts';
import { controlOf } from '../cloud-control.ts';
import { ACCEPT, INVOKE, START } from './cloud.ts';
import { LOST_RUN, RUN, useExpressCloud } from './express.ts';
import { MINUTE, SECONDS, settles } from './row.ts';

/** The rows that differ on Express: cancels, later rounds, restarts, and a tool that changes its engine. */
const { cloud, url, now, get, runsOf, sweepAfter, quiet, assembly, asked, answer } = useExpressCloud();
const standard = useAssembly('test/support/apps/app.ts');

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
    const { sweep, quiet } = controlOf(after);
    for (const minutes of [1, 5.5]) {
      expect(after.stepFunctions.executions()).toEqual([]);
      after.clock.advance(minutes * MINUTE + 1_000);
      await sweep();
    }
    await quiet();
    settles(task, { row: 22, tookMs: after.clock.now() - since, boundMs: LOST_RUN });
    const { taskId } = body.result;
    const shown = (await modernRequest(`${after.url}/mcp`, 'tasks/get', { taskId })).body.result;
    expect(shown).toMatchObject({ status: 'completed', result: { structuredContent: { n: 1 } } });
  } finally {
    await after.stop();
    rmSync(dataDir, { recursive: true });
  }
});

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

test('row 23: its tool moves to Express: running tasks go on, waiting ones continue there', async ({ task }) => {
  const make = async (server: Cloud) => {
    const waits = await callOn(server, 'ask');
    await poll(`${server.url}/mcp`, waits, ({ status }) => status === 'input_required');
    const busy = { error: 'TooManyRequestsException', status: 429 } as const;
    server.faults.add({ ...INVOKE, at: 'before', do: busy, times: 1_000 });
    const runs = await callOn(server, 'echo', { a: 1 });
    const isWaiting = () => server.stepFunctions.executions().some(({ states }) => states.includes('RunAgain'));
    await expect.poll(isWaiting).toBe(true);
    return { waits, runs };
  };
  await redeployed(standard, assembly, make, async ({ waits, runs }, server) => {
    const since = server.clock.now();
    const shown = await poll(`${server.url}/mcp`, runs, ended);
    expect(shown).toMatchObject({ status: 'completed' });
    const arn = server.stepFunctions.executions().find(({ name }) => name === `${runs}-r1`)?.arn;
    expect(arn).toContain('standard:');
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
});

test('row 23: its tool leaves Express: it starts again if it may be repeated, or fails', async ({ task }) => {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-express-'));
  const file = join(folder, 'charged');
  const charges = () => readFileSync(file, { encoding: 'utf8', flag: 'a+' });
  const make = async (server: Cloud) => {
    const charged = Promise.withResolvers<void>();
    server.faults.add({ ...RUN, do: { loseAfter: charged.promise } });
    const stepped = await callOn(server, 'charge_then_crash', { file, ms: 2_500 });
    await expect.poll(charges).toBe('charged\n');
    charged.resolve();
    await controlOf(server).quiet();
    server.faults.add({ ...RUN, do: 'drop', times: 2 });
    const again = await callOn(server, 'returns', { json: '1' });
    return { stepped, again, once: await callOn(server, 'echo', { a: 1 }) };
  };
  await redeployed(assembly, standard, make, async ({ stepped, again, once }, server) => {
    const since = server.clock.now();
    const { sweep, quiet } = controlOf(server);
    for (const minutes of [1, 5.5]) {
      expect(server.stepFunctions.executions().filter(({ status }) => status !== 'ABORTED')).toEqual([]);
      server.clock.advance(minutes * MINUTE + 1_000);
      await sweep();
    }
    await quiet();
    settles(task, { row: 23, tookMs: server.clock.now() - since, boundMs: LOST_RUN });
    expect(await getOn(server, again)).toMatchObject({ status: 'completed' });
    // The run that died had stored its step.
    expect(await getOn(server, stepped)).toMatchObject({ status: 'completed' });
    expect(charges()).toBe('charged\n');
    expect(await getOn(server, once)).toMatchObject({
      status: 'failed',
      error: { data: { reason: 'ExecutionDoesNotExist' } },
    });
    const runs = server.stepFunctions.executions().map(({ name, status }) => `${name} ${status}`);
    expect(runs.toSorted()).toEqual([again, stepped].map((id) => `${id}-r1 SUCCEEDED`).toSorted());
  });
  rmSync(folder, { recursive: true });
});

describe('with five whole minutes for a run', () => {
  const { cloud, url, now, start, get, runsOf, quiet } = useExpressCloud(1);

  test('row 15: on Express, a cancel stops no run: the tool ends at its check, without effect', async ({ task }) => {
    const folder = mkdtempSync(join(tmpdir(), 'mcp-express-'));
    const file = join(folder, 'stopped');
    const begun = cloud().calls.mark();
    const taskId = await start('spin', { file });
    // The tool checks each second whether its task is still alive.
    const reads = () =>
      cloud()
        .calls.since(begun)
        .filter(({ caller }) => caller.includes('Tools'));
    await expect.poll(() => reads().length).toBeGreaterThan(0);
    const [mark, since] = [cloud().calls.mark(), now()];
    await modernRequest(url(), 'tasks/cancel', { taskId });
    await quiet();
    settles(task, { row: 15, tookMs: now() - since, boundMs: SECONDS });
    expect(readFileSync(file, 'utf8')).toMatch(/^stopped/);
    rmSync(folder, { recursive: true });
    expect(await get(taskId)).toMatchObject({ status: 'cancelled' });
    expect(runsOf(taskId).map(({ states }) => [states[0], states.at(-1)])).toEqual([['Run', 'Superseded']]);
    expect(
      cloud()
        .calls.since(mark)
        .map(({ operation }) => operation),
    ).not.toContain('StopExecution');
  });
});
