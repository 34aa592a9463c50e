import { expect, test } from 'vitest';
import { momentsOf } from '../../../functions/operator/moments.ts';
import type { RunFacts } from '../../../functions/operator/runs.ts';
import type { TaskEvent } from '../../../functions/tasks/record.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';

const task = { tool: 'x', ttl: 3_600_000, timeout: 60_000, accepts: [], legacy: false };
const run = (more: Partial<RunFacts>): RunFacts => ({
  ...{ round: 1, executionArn: 'arn', status: 'SUCCEEDED', failures: [] },
  ...more,
});
const told = (events: readonly TaskEvent[], runs: readonly RunFacts[]) =>
  momentsOf({ ...create({ owner: 'o', taskId: 'a' }, task, 1), events }, runs).map(({ what }) => what);

test.each([
  ['of another clock', 42],
  ['in one millisecond', 40],
])('an attempt that fails comes before the failure of its task, the end of the run last: %s', (_times, at) => {
  const runs = [run({ startedAt: 20, stoppedAt: 45, failures: [{ at, error: 'TypeError' }] })];
  const events = [
    { at: 20, what: 'created' },
    { at: 40, what: 'failed', startedAt: 20 },
  ] as const;
  expect(told(events, runs)).toEqual(['created', 'run started', 'attempt failed', 'failed', 'run ended']);
});

test('an attempt of a later round does not delay what an earlier round asked', () => {
  const runs = [run({ round: 2, startedAt: 300, failures: [{ at: 350, error: 'TypeError' }] })];
  const events = [
    { at: 20, what: 'asked' },
    { at: 300, what: 'answered', by: 'endpoint' },
  ] as const;
  expect(told(events, runs)).toEqual(['asked', 'answered', 'run started', 'attempt failed']);
});

test.each([
  ['operator', ['failed', 'attempt failed']],
  [undefined, ['attempt failed', 'failed']],
] as const)('only the end that a workflow writes waits for a failed attempt: by %s', (by, order) => {
  const runs = [run({ failures: [{ at: 42, error: 'TypeError' }] })];
  expect(told([{ at: 40, what: 'failed', ...(by !== undefined && { by }) }], runs)).toEqual(order);
});

test.each([
  ['a second', 1_040, ['attempt failed', 'failed']],
  ['more than a second', 1_041, ['failed', 'attempt failed']],
])('an attempt that fails within a second after an outcome may have failed before it: %s', (_time, at, order) => {
  expect(told([{ at: 40, what: 'failed' }], [run({ failures: [{ at, error: 'TypeError' }] })])).toEqual(order);
});

test('what happens in one millisecond is in the order in which it happens', () => {
  const runs = [run({ round: 2, startedAt: 40, stoppedAt: 40, failures: [{ at: 40, error: 'TypeError' }] })];
  const events = [
    { at: 40, what: 'signalled', round: 2 },
    { at: 40, what: 'completed', round: 2 },
    { at: 40, what: 'resumed' },
  ] as const;
  expect(told(events, runs)).toEqual([
    ...['resumed', 'run started', 'attempt failed', 'completed'],
    ...['signalled', 'run ended'],
  ]);
});

test.each([
  ['SUCCEEDED', 'run ended', undefined],
  ['FAILED', 'run failed', 'TypeError'],
  ['TIMED_OUT', 'run timed out', 'States.Timeout'],
  ['ABORTED', 'run stopped', undefined],
] as const)('a run that is %s has its end, with the error that ended it', (status, what, error) => {
  const ended = run({ status, stoppedAt: 50, ...(error !== undefined && { error }) });
  const record = { ...create({ owner: 'o', taskId: 'a' }, task, 1), events: [] };
  expect(momentsOf(record, [ended])).toStrictEqual([{ at: 50, what, round: 1, ...(error !== undefined && { error }) }]);
});
