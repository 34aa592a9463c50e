import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, onTestFinished, test } from 'vitest';
import { clientConfig, temporaryDir } from '../../../../local/test/fixture.ts';
import { ended, modernRequest, poll, runTask } from '../../../support/clients.ts';
import { EVENT, FINISH, INVOKE, useCrashCloud } from './cloud.ts';
import { MINUTE, SECONDS, settles } from './row.ts';

/** Rows 7 to 11 and 19 of the crash table: a tool runs, and something goes wrong. */
/** Attempts at the last write of a workflow: one, and 12 retries. */
const ALL_OF_FINISH = 13;

describe('by the clock', () => {
  const { cloud, url, now, get, stored, quiet } = useCrashCloud();

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
      'Lambda.AWSLambdaException',
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

  test('row 9: it works past its deadline: the task fails then, a later result is dropped', async ({ task }) => {
    const folder = temporaryDir();
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [file, go] = [join(folder, 'returned'), join(folder, 'go')];
    // Its second is not for the start of a worker.
    await runTask(url(), 'brief', { ms: 0 });
    const { taskId } = await runTask(url(), 'brief', { ms: 0, file, go });
    const shown = await get(taskId);
    const failed = await stored(taskId);
    const { status, error = '', updatedAt, deadlineAt } = failed;
    expect([status, JSON.parse(error).data.reason]).toEqual(['failed', 'States.Timeout']);
    settles(task, { row: 9, tookMs: updatedAt - deadlineAt, boundMs: 1_000, sinceDeadline: true });
    expect(existsSync(file)).toBe(false);
    writeFileSync(go, '');
    await expect.poll(() => existsSync(file)).toBe(true);
    await quiet();
    expect(readFileSync(file, 'utf8')).toBe('returned\n');
    expect(await stored(taskId)).toEqual(failed);
    expect(await get(taskId)).toEqual(shown);
  });

  // With defineTool, a result that is too large for the workflow is in S3: test/cloud/results/large-results.test.ts.
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

  test('row 11: the server dies between a large result in S3 and the end: it stores both again', async ({ task }) => {
    const write = { service: 'dynamodb', operation: 'UpdateItem', caller: 'ServerTaskEventsFunction' } as const;
    const died = cloud().faults.add({ ...write, do: 'killWorker' });
    const mark = cloud().calls.mark();
    const since = now();
    const { taskId, status, result } = await runTask(url(), 'big', { bytes: 100_000 });
    settles(task, { row: 11, tookMs: now() - since, boundMs: SECONDS });
    expect([died.hits, status, result.content[0].text.length]).toEqual([1, 'completed', 100_000]);
    const puts = cloud()
      .calls.since(mark)
      .filter(({ operation }) => operation === 'PutObject');
    expect(new Set(puts.map(({ input }) => (input as { Key: string }).Key)).size).toBe(1);
    expect(puts.length).toBe(2);
    expect((await stored(taskId)).result?.length).toBeLessThan(200);
  });

  test('row 11: S3 takes no large result for a while: the task works until it does', async ({ task }) => {
    const put = { service: 's3', operation: 'PutObject', caller: 'ServerTaskEventsFunction' } as const;
    // Each call of the function tries three times.
    const down = cloud().faults.add({ ...put, do: { error: 'SlowDown', status: 503 }, times: 4 });
    const since = now();
    const ran = await runTask(url(), 'big', { bytes: 100_000 });
    settles(task, { row: 11, tookMs: now() - since, boundMs: SECONDS });
    expect([down.hits, ran.status]).toEqual([4, 'completed']);
  });

  test('row 19: only a repeatable tool runs again if it may have run; each attempt has a number', async ({ task }) => {
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
  const { cloud, url, now, start, get, stored, records, runsOf, sweep, pass, quiet } = useCrashCloud({
    timeScale: SCALE,
  });
  const down = (times: number) =>
    cloud().faults.add({ ...FINISH, do: { error: 'InternalServerError', status: 500 }, times });
  /** How long a workflow went on with these calls, in its own time: from the first failure to the last attempt. */
  const spanOf = (operation: string, mark: number, statuses: readonly number[]): number => {
    const calls = cloud().calls.since(mark);
    const tries = calls.filter((one) => one.operation === operation && one.caller.startsWith('ServerStandard'));
    expect(tries.map(({ status }) => status)).toEqual(statuses);
    return ((tries.at(-1)?.at ?? Number.NaN) - (tries[0]?.at ?? Number.NaN)) * SCALE;
  };
  const failures = (status: number, times: number): number[] => Array.from({ length: times }, () => status);
  /** Every try of the last write got this status, so the run has failed. Returns how long all of it took, in ms. */
  async function failsByItsEvent(taskId: string, mark: number, status: number, reason: string): Promise<number> {
    const since = now();
    expect(await poll(url(), taskId, ended)).toMatchObject({ status: 'failed', error: { data: { reason } } });
    expect(runsOf(taskId)).toMatchObject([{ status: 'FAILED' }]);
    return spanOf('UpdateItem', mark, failures(status, ALL_OF_FINISH)) + now() - since;
  }

  test('row 8: it is throttled on every try: the task fails at its deadline', async ({ task }) => {
    const busy = cloud().faults.add({ ...INVOKE, do: { error: 'TooManyRequestsException', status: 429 }, times: 600 });
    const taskId = await start('echo');
    await expect.poll(() => busy.hits).toBeGreaterThan(7);
    const { deadlineAt } = await stored(taskId);
    cloud().clock.advance(deadlineAt - now());
    const ran = await poll(url(), taskId, ended);
    const { updatedAt } = await stored(taskId);
    settles(task, { row: 8, tookMs: updatedAt - deadlineAt, boundMs: 10_000, sinceDeadline: true });
    expect(ran).toMatchObject({ status: 'failed', error: { data: { reason: 'States.Timeout' } } });
  });

  // The limits of a task leave room for its outcome (functions/tasks/limits.ts): here another writer has filled the item.
  test("row 10: a record over 400 KB: the write is retried, then the run's event fails the task", async ({ task }) => {
    const fill = async () => {
      const [record] = (await records()).filter(({ status }) => status === 'working');
      await DynamoDBDocumentClient.from(new DynamoDBClient(clientConfig(cloud()))).send(
        new UpdateCommand({
          TableName: cloud().tables[0],
          Key: { owner: record?.owner, taskId: record?.taskId },
          UpdateExpression: 'SET filling = :text',
          ExpressionAttributeValues: { ':text': 'x'.repeat(408_200) },
        }),
      );
    };
    cloud().faults.add({ ...INVOKE, do: { run: fill } });
    const mark = cloud().calls.mark();
    const taskId = await start('big', { bytes: 1_400 });
    await quiet();
    const tookMs = await failsByItsEvent(taskId, mark, 400, 'DynamoDB.AmazonDynamoDBException');
    settles(task, { row: 10, tookMs, boundMs: 8 * MINUTE });
  });

  test('row 11: DynamoDB fails the last write for a while: the retry writes the result', async ({ task }) => {
    const failing = down(4);
    const mark = cloud().calls.mark();
    expect(await runTask(url(), 'echo')).toMatchObject({ status: 'completed' });
    expect(failing.hits).toBe(4);
    settles(task, { row: 11, tookMs: spanOf('UpdateItem', mark, [...failures(500, 4), 200]), boundMs: 7 * MINUTE });
  });

  test('row 11: DynamoDB always fails the last write: the event of the failed run fails the task', async ({ task }) => {
    const failing = down(ALL_OF_FINISH);
    const mark = cloud().calls.mark();
    const taskId = await start('echo');
    await quiet();
    expect(failing.hits).toBe(ALL_OF_FINISH);
    const tookMs = await failsByItsEvent(taskId, mark, 500, 'DynamoDB.InternalServerError');
    settles(task, { row: 11, tookMs, boundMs: 8 * MINUTE });
  });

  test('row 11: and the event is lost, too: the sweep fails the task five minutes after its check', async ({
    task,
  }) => {
    // The last write waits for the sweep, which may be slow to start: a run that is over is of no use here.
    const { promise: swept, resolve: goOn } = Promise.withResolvers<void>();
    cloud().faults.add({ ...FINISH, do: { run: () => swept } });
    const failing = down(ALL_OF_FINISH);
    const lost = cloud().faults.add({ ...EVENT, do: 'drop' });
    const taskId = await start('echo');
    cloud().clock.advance(MINUTE);
    await sweep().finally(goOn);
    const { seenRound, dueAt = 0 } = await stored(taskId);
    expect(seenRound).toBe(1);
    await quiet();
    const since = now();
    const happened = async () => JSON.stringify({ runs: runsOf(taskId), record: await stored(taskId) });
    expect(failing.hits, await happened()).toBe(ALL_OF_FINISH);
    await expect.poll(() => lost.hits, { message: await happened() }).toBe(1);
    expect(await stored(taskId)).toMatchObject({ status: 'working' });
    await pass(dueAt - now(), async () => (await stored(taskId)).status === 'failed');
    settles(task, { row: 11, tookMs: now() - since, boundMs: 6 * MINUTE });
    const shown = await get(taskId);
    expect(shown).toMatchObject({ status: 'failed', error: { data: { reason: 'DynamoDB.InternalServerError' } } });
    await modernRequest(url(), 'tasks/cancel', { taskId });
    expect(await get(taskId)).toEqual(shown);
  });
});

describe('with the waits of workflows ten times shorter', () => {
  const { cloud, url, now } = useCrashCloud({ timeScale: 10 });

  test('row 8: it is throttled for a while: then it runs', async ({ task }) => {
    const busy = cloud().faults.add({ ...INVOKE, do: { error: 'TooManyRequestsException', status: 429 }, times: 4 });
    const since = now();
    expect(await runTask(url(), 'echo')).toMatchObject({ status: 'completed' });
    expect(busy.hits).toBe(4);
    settles(task, { row: 8, tookMs: (now() - since) * 10, boundMs: 65_000 });
  });
});
