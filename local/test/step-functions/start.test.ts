import { StartExecutionCommand } from '@aws-sdk/client-sfn';
import { describe, expect, it } from 'vitest';
import { StatesError } from '../../step-functions/index.ts';
import { executionArn, gauge, type Local, machineArn, serve, single, task, until } from './support.ts';

const hang = () => new Promise(() => {});
const named = (name: string) => expect.objectContaining({ name });
const start = (local: Local, request: object) =>
  local.client.send(new StartExecutionCommand({ stateMachineArn: machineArn(), ...request }));

describe('StartExecution', () => {
  it('answers the execution ARN and date, before the first state runs', async () => {
    const { seen, enter } = gauge();
    const local = await serve(task(), { now: () => 1_700_000_000_250, task: async () => enter() });
    const answer = await local.engine.operations.StartExecution?.({ stateMachineArn: machineArn(), name: 'a' });
    expect(seen.calls).toBe(0);
    expect(answer).toEqual({ executionArn: executionArn('a'), startDate: 1_700_000_000.25 });
    await local.ended(executionArn('a'));
    expect(seen.calls).toBe(1);
  });

  it('makes a UUID for an absent name and {} of an absent input', async () => {
    const local = await serve(single({ Type: 'Pass' }));
    const { executionArn: arn = '' } = await start(local, {});
    expect(arn).toMatch(/:execution:m:[0-9a-f-]{36}$/);
    expect(await local.ended(arn)).toMatchObject({ input: '{}', output: '{}' });
  });

  it.each([
    ['', 'InvalidName'],
    ['a b', 'InvalidName'],
    ['a:b', 'InvalidName'],
    ['a\u0007', 'InvalidName'],
    ['x'.repeat(81), 'InvalidName'],
  ])('refuses the name %j', async (name, error) => {
    const local = await serve(single({ Type: 'Pass' }));
    await expect(start(local, { name })).rejects.toThrow(named(error));
  });

  it('takes 80 characters, dots, dashes and letters of any alphabet', async () => {
    const local = await serve(single({ Type: 'Pass' }));
    for (const name of ['x'.repeat(80), 'a.b-c_d=e@f!(1)', 'täsk']) {
      expect(await start(local, { name })).toMatchObject({ executionArn: executionArn(name) });
    }
  });

  it.each([
    [{ stateMachineArn: machineArn('other') }, 'StateMachineDoesNotExist'],
    [{ stateMachineArn: 'nonsense' }, 'InvalidArn'],
    [{ stateMachineArn: executionArn('a') }, 'InvalidArn'],
    [{ input: '{' }, 'InvalidExecutionInput'],
    [{ input: '' }, 'InvalidExecutionInput'],
  ])('refuses %j with %s', async (request, error) => {
    const local = await serve(single({ Type: 'Pass' }));
    await expect(start(local, { name: 'a', ...request })).rejects.toThrow(named(error));
    expect(local.engine.executions()).toEqual([]);
  });
});

describe('an execution name', () => {
  it.each([
    ['running', 'same input', 'the same execution'],
    ['running', 'other input', 'ExecutionAlreadyExists'],
    ['succeeded', 'same input', 'ExecutionAlreadyExists'],
    ['succeeded', 'other input', 'ExecutionAlreadyExists'],
    ['failed', 'same input', 'ExecutionAlreadyExists'],
    ['aborted', 'same input', 'ExecutionAlreadyExists'],
  ])('of one %s, started again with %s: %s', async (state, input, expected) => {
    const local = await serve(task(), {
      task: async () =>
        state === 'failed' ? Promise.reject(new StatesError('E')) : state === 'succeeded' ? 1 : hang(),
    });
    const first = await start(local, { name: 'a', input: '{"i":1}' });
    if (state === 'aborted') await local.stop(executionArn('a'));
    if (state !== 'running') await local.ended(executionArn('a'));
    const again = start(local, { name: 'a', input: input === 'same input' ? '{"i":1}' : '{"i":2}' });
    if (expected === 'ExecutionAlreadyExists') {
      await expect(again).rejects.toThrow(named(expected));
    } else {
      expect(await again).toMatchObject({ executionArn: first.executionArn, startDate: first.startDate });
    }
    expect(local.engine.executions()).toHaveLength(1);
  });

  it('started 50 times at once runs once', async () => {
    let calls = 0;
    const local = await serve(task(), {
      async task() {
        calls += 1;
        return hang();
      },
    });
    const answers = await Promise.all(Array.from({ length: 50 }, () => start(local, { name: 'a' })));
    expect(new Set(answers.map((answer) => answer.executionArn)).size).toBe(1);
    await until(() => calls > 0);
    expect(calls).toBe(1);
  });

  it('belongs to its machine', async () => {
    const local = await serve([
      single({ Type: 'Pass' }),
      { ...single({ Type: 'Pass' }), name: 'n', arn: machineArn('n') },
    ]);
    await start(local, { name: 'a', input: '1' });
    expect(await start(local, { stateMachineArn: machineArn('n'), name: 'a', input: '2' })).toMatchObject({
      executionArn: executionArn('a', 'n'),
    });
  });

  it('stays taken when the execution is no longer kept whole', async () => {
    const local = await serve(single({ Type: 'Pass' }), { keepClosed: 2 });
    for (const name of ['a', 'b', 'c']) await local.ended(await local.start('in', name));
    const gone = await local.describe(executionArn('a'));
    expect(gone).toMatchObject({ status: 'SUCCEEDED', startDate: expect.any(Date), stopDate: expect.any(Date) });
    expect([gone.input, gone.output]).toEqual([undefined, undefined]);
    expect(await local.describe(executionArn('b'))).toMatchObject({ input: '"in"', output: '"in"' });
    expect(await local.events(executionArn('a'))).toEqual([]);
    expect(local.snapshot(executionArn('a'))).toMatchObject({ states: [], transitions: 1 });
    await expect(local.start('in', 'a')).rejects.toThrow(named('ExecutionAlreadyExists'));
  });
});
