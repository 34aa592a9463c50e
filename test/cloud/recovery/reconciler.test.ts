import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SFNClient, StopExecutionCommand } from '@aws-sdk/client-sfn';
import { DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, describe, expect, test } from 'vitest';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { clientConfig } from '../../../local/test/fixture.ts';
import { ended, modernRequest, poll } from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';

const logged: string[] = [];
const cloud = useCloud('assembly', {
  movableClock: true,
  onLog: (source, line) => void logged.push(`${source} ${line}`),
});
const url = () => `${cloud().url}/mcp`;
const MINUTE = 60_000;
const accept = { action: 'accept', content: { ok: true } };

afterEach(() => cloud().faults.clear());

/** What lies in the table, past all that readers are told. */
async function records(): Promise<TaskRecord[]> {
  const db = DynamoDBDocumentClient.from(new DynamoDBClient(clientConfig(cloud())));
  const [TableName] = cloud().tables;
  const { Items = [] } = await db.send(new ScanCommand({ TableName, ConsistentRead: true }));
  return (Items as TaskRecord[]).filter(({ status }) => status !== undefined);
}
async function stored(taskId: string): Promise<TaskRecord> {
  const record = (await records()).find((one) => one.taskId === taskId);
  if (record === undefined) throw new Error(`There is no task ${taskId}`);
  return record;
}

async function start(name: string, args: object = {}): Promise<string> {
  const { body } = await modernRequest(url(), 'tools/call', { name, arguments: args });
  return body.result.taskId;
}
const runsOf = (taskId: string) =>
  cloud()
    .stepFunctions.executions()
    .filter(({ name }) => name.startsWith(taskId));

/** What an operator does in the console. */
async function stopRun(taskId: string): Promise<void> {
  const [run] = runsOf(taskId);
  await new SFNClient(clientConfig(cloud())).send(new StopExecutionCommand({ executionArn: run?.arn }));
}

/** One sweep; what it counted. */
async function sweep(): Promise<Record<string, unknown>[]> {
  logged.length = 0;
  const [result] = await cloud().schedules.fire('ServerReconcilerSweep');
  expect(result).toMatchObject({ statusCode: 200 });
  expect(result).not.toHaveProperty('functionError');
  return logged.flatMap((line) => {
    const metrics = /^\S*Reconciler\S* (\{"_aws":.*\})$/.exec(line)?.[1];
    return metrics === undefined ? [] : [JSON.parse(metrics) as Record<string, unknown>];
  });
}

/** A worker dies as it is about to start a run; the client hears of nothing. */
function dieBeforeStart(): void {
  const caller = 'ServerEndpoint';
  cloud().faults.add({ service: 'states', operation: 'StartExecution', caller, do: 'killWorker' });
}

describe('a run that ends outside its workflow', () => {
  test('stopped from the console: its event fails the task within seconds (row 13)', async () => {
    const taskId = await start('spin', { file: '/dev/null' });
    const stopped = Date.now();
    await stopRun(taskId);
    const task = await poll(url(), taskId, ended);
    expect(task).toMatchObject({
      status: 'failed',
      error: {
        code: -32603,
        message: 'The run of the tool ended without a result',
        data: { reason: 'States.TaskFailed' },
      },
    });
    // The sweep would not look before a minute.
    expect(Date.now() - stopped).toBeLessThan(30_000);
    expect((await stored(taskId)).status).toBe('failed');
  });

  test('its event delivered twice at once: failed once', async () => {
    const taskId = await start('spin', { file: '/dev/null' });
    const doubled = cloud().faults.add({ service: 'events', operation: 'Deliver', do: 'double' });
    const mark = cloud().calls.mark();
    await stopRun(taskId);
    await poll(url(), taskId, ended);
    expect(doubled.hits).toBe(1);
    const reads = () =>
      cloud()
        .calls.since(mark)
        .filter(({ operation, caller }) => operation === 'GetItem' && caller.includes('Reconciler')).length;
    const failed = await stored(taskId);
    await expect.poll(reads).toBe(2);
    expect(await stored(taskId)).toEqual(failed);
  });

  test('event lost in the first minute: the first sweep that checks the task fails it (row 13)', async () => {
    const taskId = await start('spin', { file: '/dev/null' });
    const lost = cloud().faults.add({ service: 'events', operation: 'Deliver', do: 'drop' });
    await stopRun(taskId);
    await lost.struck;
    await sweep();
    expect((await stored(taskId)).status).toBe('working');
    cloud().clock.advance(MINUTE);
    expect(await sweep()).toMatchObject([{ Sweep: 1 }, { Repaired: 1, Kind: 'run_ended' }]);
    expect(await poll(url(), taskId, ended)).toMatchObject({ status: 'failed' });
  });
});

describe('a task whose first round was never started', () => {
  test('is failed by the sweep after a minute, not started: the client never got its id (row 4)', async () => {
    const before = new Set((await records()).map(({ taskId }) => taskId));
    dieBeforeStart();
    await modernRequest(url(), 'tools/call', { name: 'echo' }).catch(() => undefined);
    const [made] = (await records()).filter(({ taskId }) => !before.has(taskId));
    const taskId = made?.taskId ?? '';
    expect(made).toMatchObject({ status: 'working', round: 1 });
    await sweep();
    expect((await stored(taskId)).status).toBe('working');
    cloud().clock.advance(MINUTE);
    expect(await sweep()).toMatchObject([{ Sweep: 1 }, { Repaired: 1, Kind: 'never_started' }]);
    expect(await stored(taskId)).toMatchObject({ status: 'failed', statusMessage: 'The task could not be started' });
    expect(runsOf(taskId)).toEqual([]);
  });
});

describe('a task that was answered, and not started again', () => {
  async function answeredAndLost(): Promise<string> {
    const taskId = await start('ask');
    await poll(url(), taskId, ({ status }) => status === 'input_required');
    dieBeforeStart();
    const inputResponses = { 'r1.confirm': accept };
    await modernRequest(url(), 'tasks/update', { taskId, inputResponses }).catch(() => undefined);
    expect(await stored(taskId)).toMatchObject({ status: 'working', round: 2 });
    expect(runsOf(taskId)).toHaveLength(1);
    return taskId;
  }
  const right = { status: 'completed', result: { structuredContent: { answer: accept, round: 2 } } };

  test('goes on with the first sweep that checks it (row 16)', async () => {
    const taskId = await answeredAndLost();
    cloud().clock.advance(MINUTE);
    expect(await sweep()).toMatchObject([{ Sweep: 1 }, { Repaired: 1, Kind: 'not_restarted' }]);
    expect(await poll(url(), taskId, ended)).toMatchObject(right);
    expect(runsOf(taskId).map(({ name }) => name)).toEqual([`${taskId}-r1`, `${taskId}-r2`]);
  });

  test('goes on with a poll after 15 seconds; before that, a poll is a read (row 16)', async () => {
    const taskId = await answeredAndLost();
    await modernRequest(url(), 'tasks/get', { taskId });
    expect(runsOf(taskId)).toHaveLength(1);
    cloud().clock.advance(15_000);
    expect(await poll(url(), taskId, ended)).toMatchObject(right);
    expect(runsOf(taskId)).toHaveLength(2);
    expect(await sweep()).toMatchObject([{ Sweep: 1 }]);
  });

  test('is started once, by two sweeps and two polls at the same time (rows 14, 16)', async () => {
    const taskId = await answeredAndLost();
    cloud().clock.advance(MINUTE);
    const fire = () => cloud().schedules.fire('ServerReconcilerSweep');
    const get = () => modernRequest(url(), 'tasks/get', { taskId });
    await Promise.all([fire(), get(), fire(), get()]);
    expect(await poll(url(), taskId, ended)).toMatchObject(right);
    expect(runsOf(taskId).map(({ name }) => name)).toEqual([`${taskId}-r1`, `${taskId}-r2`]);
  });
});

describe('a task that runs', () => {
  test('is looked at after a minute, then not for five, and finishes as ever (row 5)', async () => {
    const looks = (calls: readonly { operation: string }[]) =>
      calls.filter(({ operation }) => operation === 'DescribeExecution').length;
    const taskId = await start('steps', { steps: 3 });
    cloud().clock.advance(MINUTE);
    const mark = cloud().calls.mark();
    expect(await sweep()).toMatchObject([{ Sweep: 1, Due: 1 }]);
    const { status, seenRound, dueAt = 0 } = await stored(taskId);
    expect({ status, seenRound }).toEqual({ status: 'working', seenRound: 1 });
    expect(dueAt).toBeGreaterThan(cloud().clock.now() + 4 * MINUTE);
    expect(await sweep()).toEqual([expect.not.objectContaining({ Due: 1 })]);
    expect(looks(cloud().calls.since(mark))).toBe(1);
    expect(await poll(url(), taskId, ended)).toMatchObject({ status: 'completed' });
  });
});

describe('past the deadline', () => {
  test('a task that still runs fails as readers saw it, and its run is stopped (row 13)', async () => {
    const taskId = await start('spin', { file: '/dev/null' });
    const { deadlineAt } = await stored(taskId);
    cloud().clock.advance(deadlineAt + 30_000 - cloud().clock.now() + 1);
    const { body } = await modernRequest(url(), 'tasks/get', { taskId });
    expect(body.result).toMatchObject({ status: 'failed', error: { data: { reason: 'DeadlineExceeded' } } });
    expect((await stored(taskId)).status).toBe('working');
    expect(await sweep()).toMatchObject([
      { Sweep: 1, Overdue: 1 },
      { Repaired: 1, Kind: 'overdue' },
    ]);
    expect((await modernRequest(url(), 'tasks/get', { taskId })).body.result).toEqual(body.result);
    expect(await stored(taskId)).not.toHaveProperty('due');
    expect(runsOf(taskId)).toMatchObject([{ status: 'ABORTED' }]);
  });

  test('a task with an unanswered question fails as readers saw it (row 17)', async () => {
    const taskId = await start('ask');
    await poll(url(), taskId, ({ status }) => status === 'input_required');
    const { deadlineAt } = await stored(taskId);
    cloud().clock.advance(deadlineAt + 30_000 - cloud().clock.now() + 1);
    const { body } = await modernRequest(url(), 'tasks/get', { taskId });
    expect(body.result.status).toBe('failed');
    expect((await stored(taskId)).status).toBe('input_required');
    expect(await sweep()).toMatchObject([{ Sweep: 1 }, { Repaired: 1, Kind: 'unanswered' }]);
    expect((await modernRequest(url(), 'tasks/get', { taskId })).body.result).toEqual(body.result);
  });
});

describe('the reconciler itself', () => {
  /** Answered, and never started again (row 16): looked for, started, and put off by a write. */
  const notRestarted = async () => {
    const taskId = await start('ask');
    await poll(url(), taskId, ({ status }) => status === 'input_required');
    dieBeforeStart();
    const inputResponses = { 'r1.confirm': accept };
    await modernRequest(url(), 'tasks/update', { taskId, inputResponses }).catch(() => undefined);
    cloud().clock.advance(MINUTE);
    return taskId;
  };
  /** Past its deadline, and its run works on: found, failed by a write, and its run stopped. */
  const overdue = async () => {
    const taskId = await start('spin', { file: '/dev/null' });
    cloud().clock.advance((await stored(taskId)).deadlineAt + 30_001 - cloud().clock.now());
    return taskId;
  };

  test('killed at each of its calls: the next sweep ends where an undisturbed one ends', async () => {
    const caller = 'ServerReconcilerFunction';
    const calls = [
      [notRestarted, 'completed', 2, ['Query', 'GetItem', 'DescribeExecution', 'StartExecution', 'UpdateItem']],
      [overdue, 'failed', 1, ['Query', 'GetItem', 'UpdateItem', 'StopExecution']],
    ] as const;
    for (const [prepare, status, runs, operations] of calls) {
      for (const operation of operations) {
        const service = operation.endsWith('Execution') ? ('states' as const) : ('dynamodb' as const);
        for (const at of ['before', 'after'] as const) {
          const what = `${status}, ${at} ${operation}`;
          const taskId = await prepare();
          const killed = cloud().faults.add({ service, operation, caller, at, do: 'killWorker' });
          await cloud().schedules.fire('ServerReconcilerSweep');
          expect(killed.hits, what).toBe(1);
          await sweep();
          const told = await poll(url(), taskId, ended);
          expect(told, what).toMatchObject({ status });
          expect(await stored(taskId), what).toMatchObject({ status });
          expect(await stored(taskId), what).not.toHaveProperty('due');
          expect(runsOf(taskId), what).toHaveLength(runs);
          await sweep();
          expect((await modernRequest(url(), 'tasks/get', { taskId })).body.result, what).toEqual({
            ...told,
            pollIntervalMs: expect.any(Number),
          });
        }
      }
    }
  }, 120_000);

  test('says with every sweep that it lives (row 21), and nothing was given up in this file', async () => {
    expect(await sweep()).toMatchObject([{ Sweep: 1, Server: expect.stringMatching(/Server/) }]);
    expect([...cloud().queues.values()].flat()).toEqual([]);
  });
});
