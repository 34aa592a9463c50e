import { describe, expect, it } from 'vitest';
import { type IntegrationCall, StatesError } from '../../step-functions/index.ts';
import { gate, gauge, machineArn, RESOURCE, ROLE, serve, task } from './support.ts';

describe('Task', () => {
  it('passes caller, Resource and Arguments to the integration', async () => {
    const calls: IntegrationCall[] = [];
    const local = await serve(task({ Arguments: { n: '{% $states.input.n %}' } }), {
      task: async (call) => void calls.push(call),
    });
    const arn = await local.start({ n: 1 });
    await local.ended(arn);
    expect(calls).toMatchObject([
      { resource: RESOURCE, arguments: { n: 1 }, executionArn: arn, stateMachineArn: machineArn(), roleArn: ROLE },
    ]);
    expect(calls[0]?.signal.aborted).toBe(false);
  });

  it('sends its input when it has no Arguments and outputs its result when it has no Output', async () => {
    const local = await serve(task({ Arguments: undefined }), { task: async (call) => ({ echo: call.arguments }) });
    expect(await local.output([1, 2])).toEqual({ echo: [1, 2] });
  });

  it('passes copies, so an integration that changes its arguments changes nothing else', async () => {
    const local = await serve(task({ Arguments: '{% $states.input %}', Output: '{% $states.input %}' }), {
      task: async (call) => Object.assign(call.arguments as object, { a: 'changed' }),
    });
    expect(await local.output({ a: 1 })).toEqual({ a: 1 });
  });

  it('a result of undefined is null', async () => {
    const local = await serve(task(), { task: async () => undefined });
    expect(await local.output()).toBeNull();
  });

  it('assigns from its result', async () => {
    const local = await serve(task({ Assign: { x: '{% $states.result.x %}' }, Output: '{% $states.result.x * 2 %}' }), {
      task: async () => ({ x: 21 }),
    });
    expect(await local.output()).toBe(42);
  });

  it('an unnamed exception of the integration is States.TaskFailed', async () => {
    const local = await serve(task(), {
      task: () => {
        throw new TypeError('broken');
      },
    });
    expect(await local.run()).toMatchObject({ status: 'FAILED', error: 'States.TaskFailed', cause: 'broken' });
  });

  it('a StatesError keeps its name and cause', async () => {
    const local = await serve(task(), { task: async () => Promise.reject(new StatesError('My.Error', '{"a":1}')) });
    expect(await local.run()).toMatchObject({ status: 'FAILED', error: 'My.Error', cause: '{"a":1}' });
  });

  it('shows the context object of AWS', async () => {
    const local = await serve(task({ Output: '{% $states.context %}' }), { now: () => 1_700_000_000_123 });
    const arn = await local.start({ i: 1 }, 'run-1');
    const { output = '' } = await local.ended(arn);
    expect(JSON.parse(output)).toEqual({
      Execution: {
        Id: arn,
        Input: { i: 1 },
        Name: 'run-1',
        RoleArn: ROLE,
        StartTime: '2023-11-14T22:13:20.123Z',
        RedriveCount: 0,
      },
      StateMachine: { Id: machineArn(), Name: 'm' },
      State: { Name: 'S', EnteredTime: '2023-11-14T22:13:20.123Z', RetryCount: 0 },
    });
  });
});

describe('TimeoutSeconds of a Task', () => {
  const hang = () => new Promise(() => {});
  const catchTimeout = [{ ErrorEquals: ['States.Timeout'], Next: 'Caught' }];

  it('fails with States.Timeout, which alone does not make the execution TIMED_OUT', async () => {
    const local = await serve(task({ TimeoutSeconds: 1 }), { task: hang });
    const { status, error, cause } = await local.run();
    expect({ status, error, cause }).toEqual({ status: 'FAILED', error: 'States.Timeout', cause: undefined });
  });

  it('can be computed', async () => {
    const fields = { TimeoutSeconds: '{% $max([1, $min([60, $states.input.left])]) %}', Catch: catchTimeout };
    const local = await serve(task(fields), { task: hang });
    const started = performance.now();
    expect(await local.output({ left: 20 })).toEqual({ Error: 'States.Timeout', Cause: '' });
    expect(performance.now() - started).toBeGreaterThan(195);
  });

  it.each([['0.5'], ['0'], ["'10'"], ['100000000'], ['$states.input.missing']])(
    'computed as %s is a States.QueryEvaluationError and calls nothing',
    async (expression) => {
      const { seen, enter } = gauge();
      const local = await serve(task({ TimeoutSeconds: `{% ${expression} %}` }), { task: async () => enter() });
      expect(await local.run()).toMatchObject({ status: 'FAILED', error: 'States.QueryEvaluationError' });
      expect(seen.calls).toBe(0);
    },
  );

  it('aborts the signal and ignores later results', async () => {
    const late = gate();
    const signals: AbortSignal[] = [];
    const local = await serve(task({ TimeoutSeconds: 1, Catch: catchTimeout }), {
      async task(call) {
        signals.push(call.signal);
        return late.promise;
      },
    });
    expect(await local.output()).toMatchObject({ Error: 'States.Timeout' });
    expect(signals[0]?.aborted).toBe(true);
    late.reject(new Error('too late'));
    await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it('counts per attempt', async () => {
    const { seen, enter } = gauge();
    const Retry = [{ ErrorEquals: ['States.Timeout'], MaxAttempts: 1 }];
    const local = await serve(task({ TimeoutSeconds: 1, Retry }), {
      async task() {
        enter();
        return seen.calls === 1 ? hang() : 'second';
      },
    });
    expect(await local.output()).toBe('second');
  });

  it('leaves the signal alone when the task was in time', async () => {
    const signals: AbortSignal[] = [];
    const local = await serve(task({ TimeoutSeconds: 1 }), { task: async (call) => void signals.push(call.signal) });
    await local.run();
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(signals[0]?.aborted).toBe(false);
  });
});
