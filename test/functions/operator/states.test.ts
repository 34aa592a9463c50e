import { describe, expect, test } from 'vitest';
import { byState, type StateEvent, visitsIn } from '../../../functions/operator/states.ts';

type Told = readonly [type: string, previous: number, details?: string];

/** Events at 1 ms, 2 ms and so on, as AWS numbers them. `details`: the name of a state, or of an error. */
const events = (...told: readonly Told[]): StateEvent[] =>
  told.map(([type, previousEventId, details], i) => {
    const [move] = /State(Entered|Exited)$/.exec(type) ?? [];
    const kind = move ?? type;
    const member = `${kind.charAt(0).toLowerCase()}${kind.slice(1)}EventDetails`;
    const named = details !== undefined && { [member]: { [move ? 'name' : 'error']: details } };
    return { id: i + 1, previousEventId, type, timestamp: new Date(i + 1), ...named };
  });
/** `Charge 2-9: 3-5 Timeout, 6-8` */
const visits = (...told: readonly Told[]) =>
  visitsIn(events(...told)).map(
    ({ name, from, to = '', tries }) =>
      `${name} ${from}-${to}: ${tries.map((one) => `${one.from}-${one.to ?? ''} ${one.error ?? ''}`.trim()).join(', ')}`,
  );

describe('the states that an execution has visited', () => {
  test('a try that fails belongs to its state, whether AWS or the embedded cloud chains the events', () => {
    const rest = [
      ['TaskFailed', 4, 'Throttled'],
      ['TaskScheduled', 5],
      ['TaskStarted', 6],
      ['TaskSucceeded', 7],
      ['TaskStateExited', 8, 'Charge'],
    ] as const;
    const begin = [
      ['ExecutionStarted', 0],
      ['TaskStateEntered', 1, 'Charge'],
      ['TaskScheduled', 2],
      ['TaskStarted', 3],
    ] as const;
    expect(visits(...begin, ...rest)).toEqual(['Charge 2-9: 3-5 Throttled, 6-8']);
    const flat = rest.map(([type, , details]) => [type, 2, details] as unknown as Told);
    expect(visits(...begin, ...flat)).toEqual(['Charge 2-9: 3-5 Throttled, 6-8']);
  });

  test('one that is there now has no end, and the tries of a function by its ARN count, too', () => {
    expect(visits(['ExecutionStarted', 0], ['WaitStateEntered', 1, 'Wait'])).toEqual(['Wait 2-: ']);
    expect(
      visits(
        ['ExecutionStarted', 0],
        ['TaskStateEntered', 1, 'Old'],
        ['LambdaFunctionScheduled', 2],
        ['LambdaFunctionTimedOut', 3, 'States.Timeout'],
        ['LambdaFunctionScheduled', 4],
      ),
    ).toEqual(['Old 2-: 3-4 States.Timeout, 5-']);
  });

  test('branches are kept apart, and the state around them ends as itself', () => {
    expect(
      visits(
        ['ExecutionStarted', 0],
        ['ParallelStateEntered', 1, 'Both'],
        ['ParallelStateStarted', 2],
        ['TaskStateEntered', 3, 'A'],
        ['TaskStateEntered', 3, 'B'],
        ['TaskScheduled', 5],
        ['TaskScheduled', 4],
        ['TaskFailed', 6, 'Late'],
        ['TaskSucceeded', 7],
        ['TaskStateExited', 9, 'A'],
        ['TaskStateAborted', 8],
        ['ParallelStateExited', 10, 'Both'],
      ),
    ).toEqual(['Both 2-12: ', 'A 4-10: 7-9', 'B 5-11: 6-8 Late']);
  });

  test('the end of the execution ends all, and names the error of a Fail state', () => {
    expect(
      visits(['ExecutionStarted', 0], ['TaskStateEntered', 1, 'Work'], ['TaskScheduled', 2], ['ExecutionTimedOut', 3]),
    ).toEqual(['Work 2-4: 3-4']);
    expect(
      visits(['ExecutionStarted', 0], ['FailStateEntered', 1, 'Give up'], ['ExecutionFailed', 2, 'OutOfStock']),
    ).toEqual(['Give up 2-2: 2-2 OutOfStock']);
  });

  test('an odd name of an error is not shown, and events before the first known one are left out', () => {
    const told: Told[] = [
      ['TaskScheduled', 0],
      ['TaskFailed', 1, 'x'],
      ['TaskStateEntered', 2, 'Work'],
      ['EvaluationFailed', 3, 'the secret is 7'],
    ];
    expect(visits(...told)).toEqual(['Work 3-: 4-4 Error']);
  });

  test('the end of an execution that failed names an error only where none is known', () => {
    const begin: Told[] = [
      ['ExecutionStarted', 0],
      ['TaskStateEntered', 1, 'Work'],
      ['TaskScheduled', 2],
    ];
    expect(visits(...begin, ['TaskFailed', 3, 'E'], ['ExecutionFailed', 4, 'States.TaskFailed'])).toEqual([
      'Work 2-5: 3-4 E',
    ]);
    expect(visits(...begin, ['TaskFailed', 3, 'an odd one'], ['ExecutionAborted', 4, 'Stopped'])).toEqual([
      'Work 2-5: 3-4 Error',
    ]);
  });

  test('an execution that ends where no try was, or no state is known, has no error', () => {
    expect(visits(['ExecutionStarted', 0], ['WaitStateEntered', 1, 'Wait'], ['ExecutionAborted', 2])).toEqual([
      'Wait 2-3: ',
    ]);
    expect(visits(['TaskStateExited', 0, 'Old'], ['ExecutionFailed', 1, 'E'])).toEqual([]);
  });

  test('visits are counted by state, with the errors of all of them', () => {
    const loop: Told[] = [
      ['ExecutionStarted', 0],
      ['TaskStateEntered', 1, 'Check'],
      ['TaskScheduled', 2],
      ['TaskFailed', 3, 'Again'],
      ['TaskStateExited', 4, 'Check'],
      ['WaitStateEntered', 5, 'Pause'],
      ['WaitStateExited', 6, 'Pause'],
      ['TaskStateEntered', 7, 'Check'],
      ['TaskScheduled', 8],
      ['TaskFailed', 9, 'Again'],
      ['TaskScheduled', 10],
      ['TaskSucceeded', 11],
    ];
    const summaries = byState(visitsIn(events(...loop)));
    expect(summaries.map(({ name, visits: all, errors }) => [name, all.length, errors])).toEqual([
      ['Check', 2, ['Again', 'Again']],
      ['Pause', 1, []],
    ]);
  });
});
