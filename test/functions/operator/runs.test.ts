import { describe, expect, test } from 'vitest';
import type { States } from '../../../functions/operator/context.ts';
import { runOf } from '../../../functions/operator/runs.ts';
import { show } from '../../../functions/operator/show.ts';
import { fakeClient } from '../../support/aws-client.ts';
import { arnOf, denied, KEY, MINUTE, operatorOn, T0, task } from './operators.ts';

const machine = 'arn:aws:states:eu-west-1:111111111111:stateMachine:S-standard';
const at = (seconds: number) => new Date(T0 + seconds * 1_000);
const scheduled = (seconds: number, resourceType = 'lambda') => ({
  ...{ timestamp: at(seconds), type: 'TaskScheduled', taskScheduledEventDetails: { resourceType } },
});
const failed = (seconds: number, error: string, kind = 'taskFailed') => ({
  ...{ timestamp: at(seconds), [`${kind}EventDetails`]: { error } },
});
const succeeded = (seconds: number) => ({ timestamp: at(seconds), taskSucceededEventDetails: {} });

async function runWith(events: object[], execution: object = {}) {
  const { executions, histories, context } = operatorOn();
  executions.put(arnOf(), { startDate: T0, ...execution });
  histories[arnOf()] = events;
  return runOf(task(), 1, machine, context.states);
}

describe('the run of a round', () => {
  test("has its times, its error, and the attempts at its work, without the server's own", async () => {
    const events = [
      scheduled(1),
      failed(2, 'Lambda.TooManyRequestsException', 'taskSubmitFailed'),
      scheduled(3, 'states'),
      failed(5, 'States.Timeout', 'taskTimedOut'),
      scheduled(7),
      failed(8, 'not a name', 'taskFailed'),
      scheduled(8, 'dynamodb'),
      succeeded(9),
      scheduled(10),
    ];
    const stopDate = T0 + 9_000;
    expect(await runWith(events, { status: 'FAILED', error: 'TypeError', stopDate })).toEqual({
      ...{ round: 1, executionArn: arnOf(), status: 'FAILED', startedAt: T0, stoppedAt: stopDate, error: 'TypeError' },
      failures: [
        { at: T0 + 2_000, error: 'Lambda.TooManyRequestsException' },
        { at: T0 + 5_000, error: 'States.Timeout' },
        { at: T0 + 8_000, error: 'Error' },
      ],
      attempts: [
        { from: T0 + 1_000 },
        { from: T0 + 3_000, to: T0 + 5_000 },
        { from: T0 + 7_000, to: T0 + 8_000 },
        { from: T0 + 10_000 },
      ],
    });
  });

  test('that works names the state it is in', async () => {
    const entered = { timestamp: at(1), type: 'TaskStateEntered', stateEnteredEventDetails: { name: 'Work' } };
    const run = await runWith([entered]);
    expect(run).toMatchObject({ status: 'RUNNING', state: 'Work' });
    expect(run).not.toHaveProperty('error');
    expect(run).not.toHaveProperty('stoppedAt');
  });

  test('an error that is not the name of one is not shown', async () => {
    expect(await runWith([], { status: 'FAILED', error: 'the password is x' })).not.toHaveProperty('error');
  });

  test('one of an older task under the same key is missing; clocks differ by a minute', async () => {
    expect(await runWith([], { startDate: T0 - MINUTE })).toMatchObject({ status: 'RUNNING' });
    expect(await runWith([], { startDate: T0 - MINUTE - 1 })).toMatchObject({ status: 'missing', failures: [] });
  });

  test('that waits to be redriven counts as one that works', async () => {
    const states = fakeClient<States>(async () => ({ status: 'PENDING_REDRIVE' }));
    expect(await runOf(task(), 1, machine, states)).toMatchObject({ status: 'RUNNING' });
  });

  test('that Step Functions does not know is missing, and any other failure is thrown', async () => {
    expect(await runOf(task(), 1, machine, operatorOn().context.states)).toEqual({
      ...{ round: 1, executionArn: arnOf(), status: 'missing', failures: [] },
    });
    const down = { send: async () => Promise.reject(new TypeError('down')) } as never;
    await expect(runOf(task(), 1, machine, down)).rejects.toThrow('down');
  });
});

describe('the run of a round, without the right to describe it', () => {
  const listed = (count: number, executions: object[] = [], more: object = {}) =>
    fakeClient<States>(async (operation, input) => {
      if (operation !== 'ListExecutions') throw denied();
      expect(input).toEqual({ stateMachineArn: machine, maxResults: 1_000 });
      return { executions: [...executions, ...Array(count - executions.length).fill({ name: 'other' })], ...more };
    });
  const mine = { name: `${task().taskId}-r1`, status: 'SUCCEEDED', startDate: at(0), stopDate: at(9) };

  test('is found in the list of executions', async () => {
    expect(await runOf(task(), 1, machine, listed(2, [mine]))).toEqual({
      ...{ round: 1, executionArn: arnOf(), failures: [] },
      ...{ status: 'SUCCEEDED', startedAt: T0, stoppedAt: T0 + 9_000 },
    });
    const older = { ...mine, startDate: new Date(T0 - 2 * MINUTE) };
    expect(await runOf(task(), 1, machine, listed(2, [older]))).toMatchObject({ status: 'missing' });
  });

  test('is missing only in a list that shows all of them', async () => {
    expect(await runOf(task(), 1, machine, listed(999))).toMatchObject({ status: 'missing' });
    expect(await runOf(task(), 1, machine, listed(1_000))).toMatchObject({ status: 'unknown' });
    const part = listed(5, [], { nextToken: 't' });
    expect(await runOf(task(), 1, machine, part)).toMatchObject({ status: 'unknown' });
  });

  test('is unknown without the right to the list, and any other failure is thrown', async () => {
    const refused = fakeClient<States>(async () => Promise.reject(denied()));
    expect(await runOf(task(), 1, machine, refused)).toMatchObject({ status: 'unknown' });
    const down = fakeClient<States>(async (operation) =>
      Promise.reject(operation === 'ListExecutions' ? new TypeError('down') : denied()),
    );
    await expect(runOf(task(), 1, machine, down)).rejects.toThrow('down');
  });
});

test('histories are read from their newest 1,000 events, runs without what they got', async () => {
  const stateMachineArn = machine.replace('standard', 'own');
  const { executions, context, histories } = operatorOn([task()], { stateMachineArn });
  executions.put(arnOf());
  histories[arnOf().replace('S-standard', 'S-own')] = [
    { id: 1, type: 'TaskStateEntered', timestamp: at(1), stateEnteredEventDetails: { name: 'Work' } },
    { id: 2, previousEventId: 1, ...failed(2, 'E'), type: 'TaskFailed' },
  ];
  const { send } = context.states;
  const asked: { constructor: { name: string }; input: object }[] = [];
  const sending = (command: never) => {
    asked.push(command);
    return send(command);
  };
  await show(KEY, true, { ...context, states: { send: sending } as States });
  const inputs = (name: string) => asked.filter((one) => one.constructor.name === name).map(({ input }) => input);
  const newest = { maxResults: 1_000, reverseOrder: true, includeExecutionData: false };
  expect(inputs('GetExecutionHistoryCommand')).toEqual([
    { executionArn: arnOf(), ...newest },
    { executionArn: arnOf().replace('S-standard', 'S-own'), ...newest },
    { executionArn: arnOf().replace('S-standard', 'S-own'), ...newest },
  ]);
  expect(inputs('DescribeExecutionCommand')[0]).toEqual({ executionArn: arnOf(), includedData: 'METADATA_ONLY' });
});
