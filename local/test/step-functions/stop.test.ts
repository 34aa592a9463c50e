import { StopExecutionCommand } from '@aws-sdk/client-sfn';
import { describe, expect, it } from 'vitest';
import { StatesError } from '../../step-functions/index.ts';
import { executionArn, gate, machine, machineArn, RESOURCE, serve, single, task, until } from './support.ts';

const hang = () => new Promise(() => {});

describe('StopExecution', () => {
  it('makes an execution ABORTED with error and cause, aborts the signal, ignores late results', async () => {
    const late = gate();
    const signals: AbortSignal[] = [];
    const Catch = [{ ErrorEquals: ['States.ALL'], Next: 'Caught' }];
    const local = await serve(task({ Catch, Retry: [{ ErrorEquals: ['States.ALL'] }] }), {
      async task({ signal }) {
        signals.push(signal);
        return late.promise;
      },
    });
    const arn = await local.start();
    await until(() => signals.length === 1);
    const { stopDate } = await local.client.send(
      new StopExecutionCommand({ executionArn: arn, error: 'Stop', cause: 'asked' }),
    );
    expect(await local.describe(arn)).toMatchObject({ status: 'ABORTED', error: 'Stop', cause: 'asked', stopDate });
    expect(signals[0]?.aborted).toBe(true);
    late.resolve('late');
    await new Promise((resolve) => setTimeout(resolve, 20));
    const after = await local.describe(arn);
    expect(after).toMatchObject({ status: 'ABORTED', stopDate });
    expect(after.output).toBeUndefined();
    expect(local.snapshot(arn)).toMatchObject({ states: ['S'], transitions: 1 });
    expect(await local.events(arn)).toEqual([
      'ExecutionStarted',
      'TaskStateEntered',
      'TaskScheduled',
      'ExecutionAborted',
    ]);
  });

  it('aborts signals when the integration rejects on abort, too, without a second attempt', async () => {
    let calls = 0;
    const local = await serve(task({ Retry: [{ ErrorEquals: ['States.ALL'] }] }), {
      task: ({ signal }) => {
        calls += 1;
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    });
    const arn = await local.start();
    await until(() => calls === 1);
    await local.stop(arn);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(calls).toBe(1);
  });

  it.each([
    ['a Wait', single({ Type: 'Wait', Seconds: 99_999_999 })],
    ['a retry delay', task({ Retry: [{ ErrorEquals: ['E'], IntervalSeconds: 9_999 }] })],
    [
      'a Map',
      single({
        Type: 'Map',
        Items: [1, 2],
        ItemProcessor: { StartAt: 'W', States: { W: { Type: 'Wait', Seconds: 9_999, End: true } } },
      }),
    ],
  ])('ends %s at once', async (_, spec) => {
    const local = await serve(spec, { timeScale: 1, task: async () => Promise.reject(new StatesError('E')) });
    const arn = await local.start();
    await until(() => local.snapshot(arn).states.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 10));
    await local.stop(arn);
    expect(await local.describe(arn)).toMatchObject({ status: 'ABORTED' });
  });

  it('before the first state runs keeps it from running', async () => {
    const local = await serve(task());
    const { operations } = local.engine;
    await operations.StartExecution?.({ stateMachineArn: machineArn(), name: 'a' });
    await operations.StopExecution?.({ executionArn: executionArn('a') });
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(local.snapshot(executionArn('a'))).toMatchObject({ states: [], transitions: 0 });
  });

  it('of a closed execution answers its stop date and changes nothing', async () => {
    const local = await serve(single({ Type: 'Pass' }));
    const arn = await local.start();
    const { stopDate } = await local.ended(arn);
    expect(await local.client.send(new StopExecutionCommand({ executionArn: arn, error: 'E' }))).toMatchObject({
      stopDate,
    });
    expect(await local.describe(arn)).toMatchObject({ status: 'SUCCEEDED', stopDate });
  });
});

describe('the TimeoutSeconds of the machine', () => {
  it('makes the execution TIMED_OUT; no Catch or Retry sees it, the signal aborts', async () => {
    const signals: AbortSignal[] = [];
    const fields = {
      Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Caught' }],
      Retry: [{ ErrorEquals: ['States.ALL'] }],
    };
    const local = await serve(task(fields, { TimeoutSeconds: 2 }), {
      async task({ signal }) {
        signals.push(signal);
        return hang();
      },
    });
    const arn = await local.start();
    const { status, output } = await local.ended(arn);
    expect({ status, output }).toEqual({ status: 'TIMED_OUT', output: undefined });
    expect(signals.map((signal) => signal.aborted)).toEqual([true]);
    expect((await local.events(arn)).at(-1)).toBe('ExecutionTimedOut');
  });

  it('leaves no timer behind', async () => {
    const local = await serve(machine({ TimeoutSeconds: 9_999, StartAt: 'S', States: { S: { Type: 'Succeed' } } }));
    const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;
    const before = timers();
    for (let i = 0; i < 20; i += 1) await local.engine.operations.StartExecution?.({ stateMachineArn: machineArn() });
    expect(timers()).toBeGreaterThanOrEqual(before + 20);
    await until(() => local.engine.executions().every((one) => one.status === 'SUCCEEDED'));
    expect(timers()).toBeLessThan(before + 10);
  });

  it('does nothing to an execution that ended in time', async () => {
    const local = await serve(machine({ TimeoutSeconds: 1, StartAt: 'S', States: { S: { Type: 'Succeed' } } }));
    const arn = await local.start();
    await local.ended(arn);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(await local.describe(arn)).toMatchObject({ status: 'SUCCEEDED' });
  });
});

describe('stop', () => {
  it('ends what runs, clears timers, sends no event, and refuses new starts', async () => {
    const signals: AbortSignal[] = [];
    const wait = { Type: 'Wait', Seconds: 9_999, End: true };
    const work = { Type: 'Task', Resource: RESOURCE, TimeoutSeconds: 9_999, End: true };
    const Branches = [
      { StartAt: 'W', States: { W: wait } },
      { StartAt: 'T', States: { T: work } },
    ];
    const local = await serve(single({ Type: 'Parallel', Branches }), {
      async task({ signal }) {
        signals.push(signal);
        return hang();
      },
    });
    const arn = await local.start();
    await until(() => signals.length === 1);
    const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;
    const before = timers();
    await local.engine.stop();
    expect(timers()).toBeLessThanOrEqual(before - 2);
    expect(signals[0]?.aborted).toBe(true);
    expect(local.changes.map((change) => change.status)).toEqual(['RUNNING']);
    expect(local.engine.executions()).toMatchObject([{ arn, status: 'ABORTED' }]);
    await expect(local.engine.operations.StartExecution?.({ stateMachineArn: machineArn() })).rejects.toThrow(
      'stopped',
    );
  });
});
