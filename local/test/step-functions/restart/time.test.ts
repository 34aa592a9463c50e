import { describe, expect, it } from 'vitest';
import { StatesError } from '../../../step-functions/index.ts';
import { type Local, machine, single, task } from '../support.ts';
import { answers, arn, hang, later, useJournal } from './journalled.ts';

const { interrupted, open } = useJournal();

describe('time passes while no process runs', () => {
  const waiting = (local: Local) => local.snapshot(arn).states.length > 0;

  it.each([
    ['Seconds', { Seconds: 3_600 }],
    ['Timestamp', { Timestamp: '{% $fromMillis($millis() + 3600000) %}' }],
  ])('a Wait by %s ends when it was due, not a whole wait later', async (_, fields) => {
    const spec = single({
      Type: 'Wait',
      ...fields,
      Output: '{% $millis() - $toMillis($states.context.Execution.StartTime) %}',
    });
    await interrupted(spec, { timeScale: 1 }, waiting);
    const early = await open(spec, { timeScale: 1, now: later(3_000) });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(early.snapshot(arn)).toMatchObject({ status: 'RUNNING', transitions: 1 });
    await early.engine.stop();

    const local = await open(spec, { timeScale: 1, now: later(3_599.5) });
    await local.engine.closed(arn);
    const { output = '' } = await local.describe(arn);
    expect(Number(output)).toBeGreaterThanOrEqual(3_599_990);
    expect(Number(output)).toBeLessThan(3_605_000);
  });

  it('the delay before a retry ends when it was due', async () => {
    const Retry = [{ ErrorEquals: ['E'], IntervalSeconds: 3_600 }];
    const before = answers(new StatesError('E'));
    await interrupted(task({ Retry }), { timeScale: 1, task: before.integration }, () => before.calls.length === 1);
    const early = answers('too early');
    const first = await open(task({ Retry }), { timeScale: 1, task: early.integration, now: later(3_000) });
    await new Promise((resolve) => setTimeout(resolve, 50));
    await first.engine.stop();
    expect(early.calls).toEqual([]);
    const local = await open(task({ Retry }), { timeScale: 1, task: async () => 'ok', now: later(3_601) });
    await local.engine.closed(arn);
    expect(await local.describe(arn)).toMatchObject({ output: '"ok"' });
    expect(local.snapshot(arn)).toMatchObject({ transitions: 2 });
  });

  it('the timeout of a task counts from its call', async () => {
    const Catch = [{ ErrorEquals: ['States.Timeout'], Next: 'Caught' }];
    const spec = task({ TimeoutSeconds: 3_600, Catch });
    const before = answers();
    await interrupted(spec, { timeScale: 1, task: before.integration }, () => before.calls.length === 1);
    const local = await open(spec, { timeScale: 1, task: hang, now: later(3_600) });
    await local.engine.closed(arn);
    expect(await local.describe(arn)).toMatchObject({ status: 'SUCCEEDED' });
    expect(await local.events(arn)).toContain('TaskTimedOut');
  });

  it('the timeout of an execution counts from its start', async () => {
    const spec = machine({
      TimeoutSeconds: 3_600,
      StartAt: 'S',
      States: { S: { Type: 'Wait', Seconds: 9_999, End: true } },
    });
    await interrupted(spec, { timeScale: 1 }, waiting);
    const local = await open(spec, { timeScale: 1, now: later(3_600) });
    await local.engine.closed(arn);
    expect(await local.describe(arn)).toMatchObject({ status: 'TIMED_OUT' });
  });

  it('of timers that became due meanwhile, the earliest comes first', async () => {
    const branch = (name: string, Seconds: number) => ({
      StartAt: name,
      States: {
        [name]: { Type: 'Wait', Seconds, Next: `${name} fails` },
        [`${name} fails`]: { Type: 'Fail', Error: name },
      },
    });
    const Branches = [branch('third', 3_000), branch('first', 1_000), branch('second', 2_000)];
    const spec = single({ Type: 'Parallel', Branches });
    await interrupted(spec, { timeScale: 1 }, (local) => local.snapshot(arn).states.length === 4);
    const local = await open(spec, { timeScale: 1, now: later(9_999) });
    await local.engine.closed(arn);
    expect(await local.describe(arn)).toMatchObject({ status: 'FAILED', error: 'first' });
  });
});
