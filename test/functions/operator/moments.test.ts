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
