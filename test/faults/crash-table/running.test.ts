import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { startCloud } from '../../../local/cloud.ts';
import { ended, modernRequest, poll, runTask } from '../../support/clients.ts';
import { EVENT, FINISH, INVOKE, useCrashCloud } from './cloud.ts';
import { MINUTE, SECONDS, settles } from './row.ts';

/** Rows 7 to 11 and 19 of the crash table: a tool runs, and something goes wrong. */
const GRACE = 30_000;
/** Attempts at the last write of a workflow: one, and 12 retries. */
const ALL_OF_FINISH = 13;

describe('by the clock', () => {
  const { cloud, url, now, stored } = useCrashCloud();

  test.for([
    ['it throws', undefined, 'TypeError'],
    [
      'its worker dies',
      { service: 'lambda', operation: 'Run', caller: 'Tools', do: 'killWorker' },
      'Runtime.ExitError',
    ],
    [
      'it may not be called',
      { ...INVOKE, do: { error: 'AccessDeniedException', status: 403 } },
      'Lambda.LambdaException',
    ],
    [
      'it is gone',
      { ...INVOKE, do: { error: 'ResourceNotFoundException', status: 404 } },
      'Lambda.ResourceNotFoundException',
    ],
  ] as const)('row 7: %s: the task fails', async ([_, fault, reason], { task }) => {
    if (fault !== undefined) cloud().faults.add(fault);
    const since = now();
    const ran = await runTask(url(), 'throws');
    settles(task, { row: 7, tookMs: now() - since, boundMs: SECONDS });
    expect(ran).toMatchObject({ status: 'failed', error: { code: -32603, data: { reason } } });
  });

  test('row 7: its function times out: the task fails', async ({ task }) => {
    const folder = mkdtempSync(join(tmpdir(), 'mcp-timeout-'));
    await cp(inject('assembly'), folder, { recursive: true });
    for (const name of readdirSync(folder).filter((file) => file.endsWith('.template.json'))) {
      const template = readFileSync(join(folder, name), 'utf8');
      expect(template).toContain('"Timeout": 300');
      writeFileSync(join(folder, name), template.replace('"Timeout": 300', '"Timeout": 1'));
    }
    const brief = await startCloud({ assembly: folder, schedules: false });
    try {
      const since = Date.now();
      const ran = await runTask(`${brief.url}/mcp`, 'sleep', { ms: 5_000 });
      settles(task, { row: 7, tookMs: Date.now() - since, boundMs: SECONDS });
      expect(ran).toMatchObject({ status: 'failed', error: { data: { reason: 'Sandbox.Timedout' } } });
    } finally {
      await brief.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('row 9: it works past its deadline: the task fails then, and what it returns later is dropped', async ({
    task,
  }) => {
    const { taskId } = await runTask(url(), 'brief');
    const { status, error = '', updatedAt, deadlineAt } = await stored(taskId);
    expect([status, JSON.parse(error).data.reason]).toEqual(['failed', 'States.Timeout']);
    settles(task, { row: 9, tookMs: updatedAt - deadlineAt, boundMs: 1_000, sinceDeadline: true });
  });

  // Where the tool is one of defineTool, what is too large for the workflow lies in S3: test/cloud/large-results.test.ts.
  test.for([
    ['over 256 KiB', 'big', { bytes: 300_000 }, 'States.DataLimitExceeded'],
    ['over 256 KiB once it is escaped', 'echo', { a: '"'.repeat(30_000) }, 'States.DataLimitExceeded'],
    ['over 6 MB', 'big', { bytes: 6_300_000 }, 'Function.ResponseSizeTooLarge'],
  ] as const)('row 10: a result %s: the task fails, and says so', async ([_, tool, args, reason], { task }) => {
    const since = now();
    const ran = await runTask(url(), tool, args);
    settles(task, { row: 10, tookMs: now() - since, boundMs: SECONDS });
    expect(ran).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('too large'), data: { reason } },
    });
  });

  test('row 19: only a tool that says so is run again after it may have run; each hears which attempt it is', async ({
    task,
  }) => {
    const die = () => cloud().faults.add({ service: 'lambda', operation: 'Run', caller: 'Tools', do: 'killWorker' });
    const since = now();
    die();
    expect(await runTask(url(), 'charge_then_crash', { file: '/dev/null' })).toMatchObject({
      result: { structuredContent: { attempt: 1 } },
    });
    settles(task, { row: 19, tookMs: now() - since, boundMs: SECONDS });
    die();
    expect(await runTask(url(), 'charge_once', { file: '/dev/null' })).toMatchObject({ status: 'failed' });
    cloud().faults.add({ ...INVOKE, do: { error: 'TooManyRequestsException', status: 429 } });
    const { taskId, result } = await runTask(url(), 'event');
    expect(result.structuredContent.event.task).toMatchObject({ taskId, round: 1, attempt: 1 });
  });
});

describe('with the waits of workflows a hundred times shorter', () => {
  const SCALE = 100;
  const { cloud, url, now, start, get, stored, runsOf, sweep, pass, quiet } = useCrashCloud({ timeScale: SCALE });
  const down = (times: number) =>
    cloud().faults.add({ ...FINISH, do: { error: 'InternalServerError', status: 500 }, times });
  /** From the first of these calls to the last, in the workflow's own time. */
  const spanOf = (operation: string, mark: number): number => {
    const calls = cloud().calls.since(mark);
    const at = calls.filter((one) => one.operation === operation && one.status !== 200).map((one) => one.at);
    return (Math.max(...at) - Math.min(...at)) * SCALE;
  };

  test('row 8: it is throttled on every try: after a minute of retries the task fails', async ({ task }) => {
    const busy = cloud().faults.add({ ...INVOKE, do: { error: 'TooManyRequestsException', status: 429 }, times: 100 });
    const mark = cloud().calls.mark();
    const ran = await runTask(url(), 'echo');
    settles(task, { row: 8, tookMs: spanOf('Invoke', mark), boundMs: 65_000 });
    expect(busy.hits).toBe(7);
    expect(ran).toMatchObject({ status: 'failed', error: { data: { reason: 'Lambda.TooManyRequestsException' } } });
  });

  test('row 8: it is throttled for a while: then it runs', async ({ task }) => {
    cloud().faults.add({ ...INVOKE, do: { error: 'TooManyRequestsException', status: 429 }, times: 4 });
    const mark = cloud().calls.mark();
    expect(await runTask(url(), 'echo')).toMatchObject({ status: 'completed' });
    settles(task, { row: 8, tookMs: spanOf('Invoke', mark), boundMs: 65_000 });
  });

  test('row 11: DynamoDB fails the last write for a while: it is made again, and the result is there', async ({
    task,
  }) => {
    down(4);
    const mark = cloud().calls.mark();
    expect(await runTask(url(), 'echo')).toMatchObject({ status: 'completed' });
    settles(task, { row: 11, tookMs: spanOf('UpdateItem', mark), boundMs: 7 * MINUTE });
  });

  test('row 11: DynamoDB fails the last write every time: the event of the failed run fails the task', async ({
    task,
  }) => {
    down(ALL_OF_FINISH);
    const mark = cloud().calls.mark();
    const taskId = await start('echo');
    await quiet();
    const since = now();
    expect(await poll(url(), taskId, ended)).toMatchObject({
      status: 'failed',
      error: { data: { reason: 'DynamoDB.InternalServerError' } },
    });
    settles(task, { row: 11, tookMs: spanOf('UpdateItem', mark) + now() - since, boundMs: 8 * MINUTE });
    expect(runsOf(taskId)).toMatchObject([{ status: 'FAILED' }]);
  });

  test('row 11: and the event is lost, too: readers are told at the deadline and its grace, then the sweep writes it', async ({
    task,
  }) => {
    const taskId = await start('steps', { steps: 1 });
    cloud().clock.advance(MINUTE);
    await sweep();
    const { deadlineAt, dueAt } = await stored(taskId);
    expect(dueAt).toBe(deadlineAt + GRACE);
    down(ALL_OF_FINISH);
    const lost = cloud().faults.add({ ...EVENT, do: 'drop' });
    await lost.struck;
    expect(await stored(taskId)).toMatchObject({ status: 'working' });
    let told: unknown;
    await pass(deadlineAt + GRACE - now(), async () => {
      if (now() > deadlineAt + GRACE) told ??= await get(taskId);
      return (await stored(taskId)).status === 'failed';
    });
    settles(task, { row: 11, tookMs: now() - deadlineAt, boundMs: GRACE + MINUTE, sinceDeadline: true });
    expect(told).toMatchObject({ status: 'failed', error: { data: { reason: 'DeadlineExceeded' } } });
    await modernRequest(url(), 'tasks/cancel', { taskId });
    expect(await get(taskId)).toEqual(told);
  });
});
