import { describe, expect, it } from 'vitest';
import { openFields } from '../../../step-functions/definition/fields.ts';
import { StatesError } from '../../../step-functions/index.ts';
import { loadRetry } from '../../../step-functions/states/retry.ts';
import { machine, RESOURCE, serve, task } from '../support.ts';

/** An integration that fails with these names, one per call, then succeeds; it notes when it was called. */
function failing(...errors: string[]) {
  const calls: number[] = [];
  const integration = async () => {
    const error = errors[calls.length];
    calls.push(performance.now());
    if (error !== undefined) throw new StatesError(error, 'why');
    return 'ok';
  };
  const gaps = () => calls.slice(1).map((at, index) => at - (calls[index] ?? 0));
  return { calls, integration, gaps };
}

const always = (error: string) => Array.from({ length: 50 }, () => error);

describe('Retry', () => {
  it('makes 3 retries by default, each one more transition', async () => {
    const { calls, integration } = failing(...always('E'));
    const local = await serve(task({ Retry: [{ ErrorEquals: ['E'] }] }), { task: integration });
    const arn = await local.start();
    expect(await local.ended(arn)).toMatchObject({ status: 'FAILED', error: 'E' });
    expect(calls).toHaveLength(4);
    expect(local.snapshot(arn)).toMatchObject({ states: ['S'], transitions: 4 });
    const events = await local.events(arn);
    expect(events.filter((type) => type === 'TaskScheduled')).toHaveLength(4);
    expect(events.filter((type) => type === 'TaskStateEntered')).toHaveLength(1);
  });

  it('waits between the attempts, divided by timeScale', async () => {
    const { integration, gaps } = failing('E', 'E');
    const Retry = [{ ErrorEquals: ['E'], IntervalSeconds: 5, BackoffRate: 2 }];
    const local = await serve(task({ Retry }), { task: integration });
    expect(await local.output()).toBe('ok');
    const [first = 0, second = 0] = gaps();
    expect(first).toBeGreaterThan(48);
    expect(second).toBeGreaterThan(98);
  });

  it('waits no longer than MaxDelaySeconds', async () => {
    const { calls, integration } = failing('E', 'E');
    const Retry = [{ ErrorEquals: ['E'], IntervalSeconds: 99_999, MaxDelaySeconds: 1 }];
    const local = await serve(task({ Retry }), { task: integration });
    expect(await local.output()).toBe('ok');
    expect(calls).toHaveLength(3);
  });

  it.each([
    ['IntervalSeconds × BackoffRate ^ retry', { IntervalSeconds: 2, BackoffRate: 3 }, [2, 6, 18]],
    ['1 and 2 by default', {}, [1, 2, 4]],
    ['MaxDelaySeconds at most', { BackoffRate: 10, MaxDelaySeconds: 15 }, [1, 10, 15]],
    ['no NaN and no Infinity', { IntervalSeconds: 1, BackoffRate: Number.MAX_VALUE, MaxDelaySeconds: 7 }, [1, 7, 7]],
    ['half of it for a random 0.5 with FULL', { JitterStrategy: 'FULL' }, [0.5, 1, 2]],
  ])('delays are %s', (_, retrier, delays) => {
    const startCounting = loadRetry(openFields({ Retry: [{ ErrorEquals: ['E'], ...retrier }] }, { machine: 'm' }));
    const nextPause = startCounting({ number: () => 0.5, uuid: () => '' });
    expect([nextPause('E'), nextPause('E'), nextPause('E')]).toEqual(delays.map((delay) => delay * 1000));
    expect(nextPause('E')).toBeUndefined();
  });

  it('MaxAttempts 0 never retries', async () => {
    const { calls, integration } = failing('E');
    const Retry = [{ ErrorEquals: ['E'], MaxAttempts: 0 }, { ErrorEquals: ['States.ALL'] }];
    const local = await serve(task({ Retry }), { task: integration });
    expect(await local.run()).toMatchObject({ status: 'FAILED', error: 'E' });
    expect(calls).toHaveLength(1);
  });

  it('counts per retrier, and an exhausted first match is not helped by a later one', async () => {
    const { calls, integration } = failing('A', 'B', 'A', 'B', 'A');
    const Retry = [
      { ErrorEquals: ['A'], MaxAttempts: 2 },
      { ErrorEquals: ['B', 'C'], MaxAttempts: 5 },
      { ErrorEquals: ['States.ALL'], MaxAttempts: 9 },
    ];
    const local = await serve(task({ Retry }), { task: integration, timeScale: 1000 });
    expect(await local.run()).toMatchObject({ status: 'FAILED', error: 'A' });
    expect(calls).toHaveLength(5);
  });

  it('shows the number of retries so far as $states.context.State.RetryCount', async () => {
    const seen: unknown[] = [];
    const errors = ['A', 'B', 'A'];
    const Retry = [{ ErrorEquals: ['A'] }, { ErrorEquals: ['B'] }];
    const fields = {
      Arguments: '{% $states.context.State.RetryCount %}',
      Output: '{% $states.context.State.RetryCount %}',
    };
    const local = await serve(task({ ...fields, Retry }), {
      timeScale: 1000,
      async task(call) {
        const error = errors[seen.push(call.arguments) - 1];
        if (error !== undefined) throw new StatesError(error);
      },
    });
    expect(await local.output()).toBe(3);
    expect(seen).toEqual([0, 1, 2, 3]);
  });

  it('retries a whole Parallel', async () => {
    const { calls, integration } = failing('E');
    const branch = { StartAt: 'T', States: { T: { Type: 'Task', Resource: RESOURCE, End: true } } };
    const P = { Type: 'Parallel', Branches: [branch], Retry: [{ ErrorEquals: ['E'] }], End: true };
    const local = await serve(machine({ StartAt: 'P', States: { P } }), { task: integration });
    const arn = await local.start();
    expect(await local.ended(arn)).toMatchObject({ output: '["ok"]' });
    expect(calls).toHaveLength(2);
    expect(local.snapshot(arn)).toMatchObject({ states: ['P', 'T', 'T'], transitions: 4 });
  });
});

describe('Catch', () => {
  const caughtBy = async (error: string, names: string[]) => {
    const Catch = [{ ErrorEquals: names, Output: 'caught', Next: 'Caught' }];
    const local = await serve(task({ Catch }), { task: async () => Promise.reject(new StatesError(error)) });
    return (await local.run()).status === 'SUCCEEDED';
  };

  it.each([
    ['My.Error', 'My.Error', true],
    ['My.Error', 'My.Other', false],
    ['My.Error', 'States.ALL', true],
    ['My.Error', 'States.TaskFailed', true],
    ['States.TaskFailed', 'States.TaskFailed', true],
    ['States.TaskFailed', 'States.ALL', true],
    ['States.Permissions', 'States.TaskFailed', true],
    ['States.Timeout', 'States.ALL', true],
    ['States.Timeout', 'States.Timeout', true],
    ['States.Timeout', 'States.TaskFailed', false],
    ['States.DataLimitExceeded', 'States.DataLimitExceeded', true],
    ['States.DataLimitExceeded', 'States.ALL', false],
    ['States.DataLimitExceeded', 'States.TaskFailed', false],
    ['States.Runtime', 'States.Runtime', false],
    ['States.Runtime', 'States.ALL', false],
    ['States.Runtime', 'States.TaskFailed', false],
  ])('%s is caught by %s: %s', async (error, name, caught) => {
    expect(await caughtBy(error, [name])).toBe(caught);
  });

  it('takes the first catcher that matches, after the retries', async () => {
    const { calls, integration } = failing('E', 'E', 'E');
    const Catch = [
      { ErrorEquals: ['A'], Output: 1, Next: 'Caught' },
      { ErrorEquals: ['B', 'E'], Output: 2, Next: 'Caught' },
      { ErrorEquals: ['States.ALL'], Output: 3, Next: 'Caught' },
    ];
    const local = await serve(task({ Retry: [{ ErrorEquals: ['E'], MaxAttempts: 1 }], Catch }), { task: integration });
    expect(await local.output()).toBe(2);
    expect(calls).toHaveLength(2);
  });

  it('passes on Error and Cause when it has no Output', async () => {
    const { integration } = failing('E');
    const local = await serve(task({ Catch: [{ ErrorEquals: ['E'], Next: 'Caught' }] }), { task: integration });
    expect(await local.output()).toEqual({ Error: 'E', Cause: 'why' });
  });

  it('has Output and Assign over $states.errorOutput and $states.input', async () => {
    const { integration } = failing('E');
    const catcher = {
      ErrorEquals: ['E'],
      Output: { e: '{% $states.errorOutput.Error %}', i: '{% $states.input.i %}' },
      Assign: { saved: '{% $states.errorOutput.Cause %}' },
      Next: 'Caught',
    };
    const Caught = { Type: 'Pass', Output: { in: '{% $states.input %}', saved: '{% $saved %}' }, End: true };
    const S = { Type: 'Task', Resource: RESOURCE, Catch: [catcher], End: true };
    const local = await serve(machine({ StartAt: 'S', States: { S, Caught } }), { task: integration });
    const arn = await local.start({ i: 7 });
    const { output = '' } = await local.ended(arn);
    expect(JSON.parse(output)).toEqual({ in: { e: 'E', i: 7 }, saved: 'why' });
    expect(local.snapshot(arn)).toMatchObject({ states: ['S', 'Caught'], transitions: 2 });
  });

  it.each([
    ['Output', { Output: '{% $states.result.missing %}' }],
    ['Output that throws', { Output: "{% $error('boom') %}" }],
    ['Assign', { Assign: { x: '{% $states.result.missing %}' } }],
    ['Arguments', { Arguments: { x: '{% $states.input.missing %}' } }],
  ])('catches the States.QueryEvaluationError of the state: %s', async (_, fields) => {
    const Catch = [{ ErrorEquals: ['States.ALL'], Next: 'Caught' }];
    const local = await serve(task({ ...fields, Catch }));
    expect(await local.output()).toMatchObject({ Error: 'States.QueryEvaluationError' });
  });

  it('does not catch what fails in its own Output', async () => {
    const Catch = [
      { ErrorEquals: ['E'], Output: '{% $states.input.missing %}', Next: 'Caught' },
      { ErrorEquals: ['States.ALL'], Output: 'second', Next: 'Caught' },
    ];
    const local = await serve(task({ Catch }), { task: failing('E').integration });
    expect(await local.run()).toMatchObject({ status: 'FAILED', error: 'States.QueryEvaluationError' });
  });
});
