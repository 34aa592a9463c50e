import {
  DescribeExecutionCommand,
  GetExecutionHistoryCommand,
  ListExecutionsCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import { describe, expect, it } from 'vitest';
import { StatesError } from '../../step-functions/index.ts';
import { executionArn, gate, machine, machineArn, ROLE, serve, single, task, until } from './support.ts';

const hang = () => new Promise(() => {});
const named = (name: string) => expect.objectContaining({ name });

it.each([
  ['DescribeExecution', new DescribeExecutionCommand({ executionArn: executionArn('x') })],
  ['StopExecution', new StopExecutionCommand({ executionArn: executionArn('x') })],
  ['GetExecutionHistory', new GetExecutionHistoryCommand({ executionArn: executionArn('x') })],
])('%s of an unknown execution is ExecutionDoesNotExist, of no ARN InvalidArn', async (_, command) => {
  const local = await serve(single({ Type: 'Pass' }));
  await expect(local.client.send(command as DescribeExecutionCommand)).rejects.toThrow(named('ExecutionDoesNotExist'));
  command.input.executionArn = 'x';
  await expect(local.client.send(command as DescribeExecutionCommand)).rejects.toThrow(named('InvalidArn'));
});

describe('reads', () => {
  it('DescribeExecution shows a running and a closed execution', async () => {
    const done = gate();
    const local = await serve(task(), { task: () => done.promise });
    const arn = await local.start({ i: 1 }, 'a');
    const running = await local.describe(arn);
    expect(running).toMatchObject({
      executionArn: arn,
      stateMachineArn: machineArn(),
      name: 'a',
      status: 'RUNNING',
      input: '{"i":1}',
    });
    expect(running.startDate).toBeInstanceOf(Date);
    expect([running.stopDate, running.output]).toEqual([undefined, undefined]);
    done.resolve({ o: 1 });
    expect(await local.ended(arn)).toMatchObject({
      status: 'SUCCEEDED',
      output: '{"o":1}',
      stopDate: expect.any(Date),
    });
  });

  it('GetExecutionHistory lists real events, forwards, backwards and in pages', async () => {
    const Fail = { Type: 'Fail', Error: 'E', Cause: 'c' };
    const local = await serve(machine({ StartAt: 'P', States: { P: { Type: 'Pass', Next: 'F' }, F: Fail } }));
    const arn = await local.start();
    await local.ended(arn);
    const { events = [] } = await local.client.send(new GetExecutionHistoryCommand({ executionArn: arn }));
    expect(events).toMatchObject([
      { id: 1, previousEventId: 0, type: 'ExecutionStarted', executionStartedEventDetails: { roleArn: ROLE } },
      { id: 2, previousEventId: 0, type: 'PassStateEntered', stateEnteredEventDetails: { name: 'P' } },
      { id: 3, previousEventId: 2, type: 'PassStateExited', stateExitedEventDetails: { name: 'P' } },
      { id: 4, previousEventId: 3, type: 'FailStateEntered', stateEnteredEventDetails: { name: 'F' } },
      { id: 5, type: 'ExecutionFailed', executionFailedEventDetails: { error: 'E', cause: 'c' } },
    ]);
    const read = (more: object) =>
      local.client.send(new GetExecutionHistoryCommand({ executionArn: arn, maxResults: 3, ...more }));
    for (const [reverseOrder, ids] of [
      [false, [1, 2, 3, 4, 5]],
      [true, [5, 4, 3, 2, 1]],
    ] as const) {
      const first = await read({ reverseOrder });
      const second = await read({ reverseOrder, nextToken: first.nextToken });
      expect([...(first.events ?? []), ...(second.events ?? [])].map((event) => event.id)).toEqual(ids);
      expect(second.nextToken).toBeUndefined();
    }
  });

  it('ListExecutions lists one machine, newest first, by status, in pages', async () => {
    const local = await serve(task({ Arguments: '{% $states.input %}' }), {
      task: async (call) => (call.arguments === 'run' ? hang() : 1),
    });
    for (const name of ['a', 'b', 'c']) await local.start(name === 'b' ? 'run' : 'end', name);
    await Promise.all([local.ended(executionArn('a')), local.ended(executionArn('c'))]);
    const list = async (more: object) => {
      const { executions = [], nextToken } = await local.client.send(
        new ListExecutionsCommand({ stateMachineArn: machineArn(), ...more }),
      );
      return { names: executions.map((one) => one.name), nextToken };
    };
    expect(await list({})).toEqual({ names: ['c', 'b', 'a'], nextToken: undefined });
    expect(await list({ statusFilter: 'RUNNING' })).toMatchObject({ names: ['b'] });
    const { names, nextToken } = await list({ maxResults: 2 });
    expect(names).toEqual(['c', 'b']);
    expect(await list({ maxResults: 2, nextToken })).toEqual({ names: ['a'], nextToken: undefined });
    await expect(list({ nextToken: 'x' })).rejects.toThrow(named('InvalidToken'));
  });
});

describe('onStatusChange', () => {
  it('gets RUNNING and the end, with dates in milliseconds as in EventBridge', async () => {
    const local = await serve(task(), {
      task: async () => Promise.reject(new StatesError('E', 'c')),
      now: () => 1_700_000_000_001,
    });
    const arn = await local.start({ i: 1 }, 'a');
    await local.ended(arn);
    const common = {
      executionArn: arn,
      stateMachineArn: machineArn(),
      name: 'a',
      input: '{"i":1}',
      startDate: 1_700_000_000_001,
    };
    expect(local.changes).toEqual([
      { ...common, status: 'RUNNING' },
      { ...common, status: 'FAILED', error: 'E', cause: 'c', stopDate: 1_700_000_000_001 },
    ]);
  });

  it('may throw or reject without harm to the execution', async () => {
    const warnings: unknown[] = [];
    const note = (warning: Error) => warnings.push(warning.message);
    process.on('warning', note);
    const local = await serve(single({ Type: 'Pass' }), {
      onStatusChange({ status }) {
        if (status === 'RUNNING') throw new Error('sync');
        return Promise.reject(new Error('async')) as unknown as undefined;
      },
    });
    expect(await local.output('x')).toBe('x');
    await until(() => warnings.length === 2);
    process.off('warning', note);
    expect(warnings).toEqual([expect.stringContaining('sync'), expect.stringContaining('async')]);
  });
});
