import { SFNClient, StopExecutionCommand } from '@aws-sdk/client-sfn';
import { describe, expect, test } from 'vitest';
import { clientConfig } from '../../../local/test/fixture.ts';
import { type FaultSpec, objectOf } from '../../../local/testing.ts';
import { EVENT, FINISH, useCrashCloud } from '../../proofs/faults/crash-table/cloud.ts';
import { ended, modernRequest, poll, runTask } from '../../support/clients.ts';
import { useAssembly } from '../../support/cloud.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** The end of the tool's own state machine, on its way to the workflow that waits for it. */
const END_OF_MACHINE: FaultSpec = {
  service: 'events',
  operation: 'Deliver',
  caller: 'StepFunctionsGetEventsForStepFunctionsExecutionRule',
  do: 'drop',
};
/** The end of the workflow, on its way to the reconciler. */
const END_OF_WORKFLOW: FaultSpec = { ...EVENT, do: 'drop' };
/** Every try of the write that a workflow ends with. */
const NO_FINISH: FaultSpec = { ...FINISH, times: 13, do: { error: 'InternalServerError', status: 500 } };

// The scale lets the retries of the last write take a second, and is too small for the next poll of a workflow.
const assembly = useAssembly('test/support/apps/machine-app.ts');
const { cloud, url, sweepAfter, stored, start, get, runsOf } = useCrashCloud({ assembly, timeScale: 400 });
const workflowOf = (taskId: string) => runsOf(taskId).find(({ states }) => states[0] === 'Run');
const machineOf = (taskId: string) => runsOf(taskId).find(({ states }) => states[0] !== 'Run');
const stop = (executionArn = '') =>
  new SFNClient(clientConfig(cloud())).send(new StopExecutionCommand({ executionArn }));
/** The sweep sees that the task runs, and comes back after five minutes at the earliest. */
async function confirmed(taskId: string): Promise<void> {
  await sweepAfter(MINUTE);
  expect(await stored(taskId)).toMatchObject({ status: 'working' });
}
/** Fails all polls of the workflow, too, so that it never sees the end. */
const deaf = () => {
  cloud().faults.add(END_OF_MACHINE);
  cloud().faults.add({
    ...{ service: 'states', operation: 'DescribeExecution', times: 1_000 },
    when: ({ caller }) => caller.startsWith('ServerMachine'),
    do: { error: 'ThrottlingException' },
  });
};

describe("the end of a tool's state machine that its workflow never gets", () => {
  const right = { structuredContent: { n: 9007199254740991 } };
  const asking = { inputRequests: { 'r1.confirm': { method: 'elicitation/create' } } };

  test.each([
    ['echo', { n: 9007199254740991 }, { status: 'completed', result: right }],
    ['error_result', {}, { status: 'completed', result: { isError: true } }],
    ['asks', {}, { status: 'input_required', ...asking }],
    ['fails', {}, { status: 'failed', error: { message: 'The tool failed', data: { reason: 'OutOfStock' } } }],
    ['fails_oddly', {}, { status: 'failed', error: { data: { reason: 'States.TaskFailed' } } }],
    ['times_out', {}, { status: 'failed', error: { data: { reason: 'States.Timeout' } } }],
  ])('%s: the sweep writes what the workflow would have written (row 13)', async (name, args, expected) => {
    const heard = await poll(url(), await start(name, args), ({ status }) => status !== 'working');
    deaf();
    const taskId = await start(name, args);
    await expect.poll(() => machineOf(taskId)?.status).not.toBe('RUNNING');
    await confirmed(taskId);
    await sweepAfter(5 * MINUTE);
    const settled = await get(taskId);
    expect(settled).toMatchObject(expected);
    const { taskId: _a, createdAt: _b, lastUpdatedAt: _c, pollIntervalMs: _d, ...shown } = settled;
    expect(heard).toMatchObject(shown);
    await expect.poll(() => workflowOf(taskId)?.status).toBe('ABORTED');
    expect(ended(settled) ? (await stored(taskId)).due : undefined).toBeUndefined();
  });

  test('a question that the sweep has written is answered, and the machine continues', async () => {
    deaf();
    const taskId = await start('asks');
    await expect.poll(() => machineOf(taskId)?.status).toBe('SUCCEEDED');
    await confirmed(taskId);
    await sweepAfter(5 * MINUTE);
    cloud().faults.clear();
    const accept = { action: 'accept', content: { ok: true } };
    await modernRequest(url(), 'tasks/update', { taskId, inputResponses: { 'r1.confirm': accept } });
    expect(await poll(url(), taskId, ended)).toMatchObject({
      status: 'completed',
      result: { structuredContent: { answer: accept, requestState: { n: 9007199254740991 }, round: 2 } },
    });
  });

  test('stopped by hand after half a day: the task fails within the next hour (row 13)', async () => {
    const taskId = await start('all_day');
    await confirmed(taskId);
    await sweepAfter(12 * HOUR);
    expect(await stored(taskId)).toMatchObject({ status: 'working' });
    deaf();
    await stop(machineOf(taskId)?.arn);
    await sweepAfter(HOUR);
    expect(await get(taskId)).toMatchObject({ status: 'failed', error: { data: { reason: 'States.TaskFailed' } } });
  });

  test('and it is not found: the workflow that runs counts, as after a deployment (row 23)', async () => {
    const taskId = await start('endless');
    await expect.poll(() => machineOf(taskId)?.status).toBe('RUNNING');
    await confirmed(taskId);
    cloud().faults.add({
      ...{ service: 'states', operation: 'DescribeExecution', caller: 'ServerReconcilerFunction', times: 10 },
      when: ({ input }) => input.executionArn === machineOf(taskId)?.arn,
      do: { error: 'ExecutionDoesNotExist' },
    });
    await sweepAfter(5 * MINUTE);
    expect(await get(taskId)).toMatchObject({ status: 'working' });
    expect(workflowOf(taskId)?.status).toBe('RUNNING');
    await modernRequest(url(), 'tasks/cancel', { taskId });
    await expect.poll(() => workflowOf(taskId)?.status).toBe('ABORTED');
  });
});

describe('no room in Step Functions', () => {
  const full: FaultSpec = {
    ...{ service: 'states', operation: 'StartExecution', times: 30, do: { error: 'ThrottlingException' } },
    when: ({ caller }) => caller.startsWith('ServerMachine'),
  };

  test('to start the machine: the workflow starts it later (row 8)', async () => {
    const starts = cloud().faults.add(full);
    expect(await runTask(url(), 'echo', { n: 1 })).toMatchObject({ status: 'completed' });
    expect(starts.hits).toBe(30);
  });

  test('to ask how the machine has ended, of which only that is known: asked again (row 8)', async () => {
    cloud().faults.add({ ...full, at: 'after', times: 1, do: 'drop' });
    const asked = cloud().faults.add({ ...full, operation: 'DescribeExecution' });
    const taskId = await start('echo', { n: 1 });
    expect(await poll(url(), taskId, ended)).toMatchObject({ status: 'completed' });
    expect(asked.hits).toBe(30);
    expect(workflowOf(taskId)?.states).toEqual(['Run', 'Collect', 'Finish']);
  });
});

describe('the end of a workflow that the reconciler never gets', () => {
  test('its last write failed for good: the sweep writes the result of the machine (row 11)', async () => {
    const failing = cloud().faults.add(NO_FINISH);
    const lost = cloud().faults.add(END_OF_WORKFLOW);
    const taskId = await start('echo', { n: 1 });
    await lost.struck;
    expect(failing.hits).toBe(13);
    expect(await get(taskId)).toMatchObject({ status: 'working' });
    await sweepAfter(MINUTE);
    expect(await get(taskId)).toMatchObject({ status: 'completed', result: { structuredContent: { n: 1 } } });
  });

  test('its last write failed for good: its event writes the result of the machine (row 11)', async () => {
    cloud().faults.add(NO_FINISH);
    const taskId = await start('echo', { n: 1 });
    expect(await poll(url(), taskId, ended)).toMatchObject({ result: { structuredContent: { n: 1 } } });
    expect(workflowOf(taskId)?.status).toBe('FAILED');
  });

  test('stopped by hand after half a day: the task has failed an hour later (row 13)', async () => {
    const taskId = await start('all_day');
    await confirmed(taskId);
    await sweepAfter(12 * HOUR);
    const lost = cloud().faults.add(END_OF_WORKFLOW);
    await stop(workflowOf(taskId)?.arn);
    await lost.struck;
    await sweepAfter(HOUR);
    expect(await get(taskId)).toMatchObject({
      status: 'failed',
      error: { message: 'The run of the tool ended without a result' },
    });
  });

  test('and the machine is gone with its workflow: the task fails, nothing restarts (row 13)', async () => {
    const taskId = await start('endless');
    await confirmed(taskId);
    cloud().faults.add({
      ...{ service: 'states', operation: 'DescribeExecution', caller: 'ServerReconcilerFunction', times: 10 },
      when: ({ input }) => input.executionArn === workflowOf(taskId)?.arn,
      do: { error: 'ExecutionDoesNotExist' },
    });
    const mark = cloud().calls.mark();
    await sweepAfter(5 * MINUTE);
    expect(await get(taskId)).toMatchObject({
      status: 'failed',
      error: { message: 'The run of the tool ended without a result', data: { reason: 'ExecutionDoesNotExist' } },
    });
    expect(
      cloud()
        .calls.since(mark)
        .filter(({ operation }) => operation === 'StartExecution'),
    ).toEqual([]);
  });
});

test('a task that works all day is checked once an hour', async () => {
  const taskId = await start('all_day');
  const mark = cloud().calls.mark();
  const checks = () =>
    cloud()
      .calls.since(mark)
      .filter(({ operation, caller }) => operation === 'DescribeExecution' && caller.includes('Reconciler'))
      .filter(({ input }) => objectOf(input).executionArn === workflowOf(taskId)?.arn).length;
  const after: number[] = [];
  for (let minutes = 0; minutes < 10 * 60; minutes += 10) {
    await sweepAfter(10 * MINUTE);
    after.push(checks());
  }
  // After 10, 20 and 40 minutes and then hourly, or a sweep later each time.
  expect(after[5]).toBeLessThanOrEqual(3);
  expect(after.at(-1)).toBeGreaterThanOrEqual(9);
  expect(after.at(-1)).toBeLessThanOrEqual(13);
  await modernRequest(url(), 'tasks/cancel', { taskId });
});

test('a machine that still runs is left alone by every check of the sweep', async () => {
  const taskId = await start('endless');
  await confirmed(taskId);
  await sweepAfter(5 * MINUTE);
  expect(await get(taskId)).toMatchObject({ status: 'working' });
  expect(runsOf(taskId).map(({ status }) => status)).toEqual(['RUNNING', 'RUNNING']);
  await modernRequest(url(), 'tasks/cancel', { taskId });
  expect(await runTask(url(), 'echo', { n: 1 })).toMatchObject({ status: 'completed' });
});
