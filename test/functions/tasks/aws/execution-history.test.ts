import { describe, expect, test } from 'vitest';
import {
  currentState,
  type HistoryEvent,
  type MapCount,
  openState,
} from '../../../../functions/tasks/aws/execution-history.ts';
import { stepFunctions } from '../../../../functions/tasks/aws/step-functions.ts';
import { fakeClient } from '../../../support/aws-client.ts';
import { type FakeAnswer, fakeService } from './fake-service.ts';

const enter = (name: string, at = 0) => ({ timestamp: new Date(at), stateEnteredEventDetails: { name } });
const leave = (name: string) => ({ timestamp: new Date(0), stateExitedEventDetails: { name } });
const other = { timestamp: new Date(0) };
/** Written in the order in which they happened. */
const stateAfter = (...events: HistoryEvent[]) => openState([...events].reverse())?.name;

describe('the state an execution is in', () => {
  test.each<[string, string | undefined, HistoryEvent[]]>([
    ['none yet', undefined, [other]],
    ['the first', 'A', [other, enter('A')]],
    ['one whose task runs', 'A', [enter('A'), other, other]],
    ['the next', 'B', [enter('A'), leave('A'), enter('B')]],
    ['none in between', undefined, [enter('A'), leave('A')]],
    ['the one around it, in between', 'Map', [enter('Map'), enter('A'), leave('A')]],
    ['the branch that is not done yet', 'A', [enter('Both'), enter('A'), enter('B'), leave('B')]],
    ['one of many iterations', 'A', [enter('Map'), enter('A'), enter('A'), leave('A')]],
    ['again in a loop', 'A', [enter('A'), leave('A'), enter('B'), leave('B'), enter('A')]],
    ['unknown, where only ends are left to see', undefined, [leave('A'), leave('B'), other]],
  ])('%s', (_title, name, events) => {
    expect(stateAfter(...events)).toBe(name);
  });

  test('is unknown without events, and since the epoch without a time', async () => {
    expect(
      await currentState(
        fakeClient(async () => ({})),
        'arn:e',
      ),
    ).toBeUndefined();
    expect(openState([{ stateEnteredEventDetails: { name: 'A' } }])).toEqual({ name: 'A', enteredAt: 0 });
  });

  test('since it was entered', () => {
    expect(openState([other, enter('B', 7), leave('A')])).toEqual({ name: 'B', enteredAt: 7 });
  });
});

describe('the count of a Map', () => {
  let id = 0;
  const event = (more: HistoryEvent): HistoryEvent => ({ id: ++id, ...more });
  const started = (length: number) => event({ previousEventId: id, mapStateStartedEventDetails: { length } });
  const done = (name: string) => event({ mapIterationSucceededEventDetails: { name } });
  const mapOf = (events: HistoryEvent[], before?: MapCount) => openState([...events].reverse(), before)?.map;
  const history = (...make: (() => HistoryEvent)[]) => {
    id = 0;
    return make.map((one) => one());
  };
  const inMap = [() => event(enter('Map')), () => started(3), () => event(enter('A'))];

  test('is of its events since it has started', () => {
    expect(mapOf(history(...inMap))).toEqual({ name: 'Map', done: 0, of: 3, event: 3 });
    const two = [() => event(leave('A')), () => done('Map'), () => event(enter('A')), () => done('Map')];
    expect(mapOf(history(...inMap, ...two))).toMatchObject({ done: 2, of: 3 });
  });

  test('is of the outermost Map, and of none once it is left', () => {
    const inner = [() => event(enter('Inner')), () => started(9), () => event(enter('B')), () => done('Inner')];
    expect(mapOf(history(...inMap, ...inner))).toMatchObject({ name: 'Map', done: 0, of: 3 });
    const after = [() => event(leave('A')), () => event(leave('Map')), () => event(enter('C'))];
    expect(mapOf(history(...inMap, ...after))).toBeUndefined();
  });

  test('goes on from an earlier read, if no event is missing between', () => {
    const all = history(
      ...inMap,
      () => done('Map'),
      () => event(enter('A')),
      () => done('Map'),
    );
    const before = { name: 'Map', done: 1, of: 3, event: 4 };
    expect(mapOf(all.slice(4), before)).toEqual({ name: 'Map', done: 2, of: 3, event: 6 });
    expect(mapOf(all.slice(4), { ...before, event: 3 })).toBeUndefined();
    expect(mapOf(all.slice(4))).toBeUndefined();
  });
});

describe('the question', () => {
  const asking = async (...answers: FakeAnswer[]) => {
    const { asked, endpoint } = await fakeService(...answers);
    return { asked, states: stepFunctions({ region: 'eu-west-1', endpoint, requestTimeout: 5_000, attempts: 1 }) };
  };

  test('is GetExecutionHistory, newest events first, without data; only needed fields are read', async () => {
    const events = [
      { id: 3, type: 'TaskScheduled', timestamp: 1.5, taskScheduledEventDetails: { parameters: '{}', resource: 'x' } },
      { id: 2, type: 'TaskStateEntered', timestamp: 1.25, stateEnteredEventDetails: { name: 'A', inputDetails: {} } },
      { id: 1, type: 'ExecutionStarted', timestamp: 1 },
    ];
    const { asked, states } = await asking([200, { events, nextToken: 't' }]);
    expect(await currentState(states, 'arn:e')).toEqual({ name: 'A', enteredAt: 1_250 });
    expect(asked).toMatchObject([{ headers: { 'x-amz-target': 'AWSStepFunctions.GetExecutionHistory' } }]);
    expect(asked[0]?.body).toEqual({
      executionArn: 'arn:e',
      maxResults: 300,
      reverseOrder: true,
      includeExecutionData: false,
    });
  });

  test('fails by the name of its error', async () => {
    const type = 'com.amazonaws.swf.service.v2.model#ExecutionDoesNotExist';
    const { states } = await asking([400, { __type: type, message: 'no' }]);
    await expect(currentState(states, 'arn:e')).rejects.toMatchObject({ name: 'ExecutionDoesNotExist' });
  });
});
