import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Decision, decide } from '../../../functions/reconciler/decide.ts';
import type { Execution } from '../../../functions/reconciler/describe.ts';
import type { Run } from '../../../functions/reconciler/outcome.ts';
import { asOf, lapse } from '../../../functions/tasks/deadlines.ts';
import { limits } from '../../../functions/tasks/limits.ts';
import type { Status, TaskRecord } from '../../../functions/tasks/record.ts';
import { type Change, after as changed, isTerminal } from '../../../functions/tasks/transitions/change.ts';
import { applied } from '../tasks/applied.ts';
import { answered, END, GRACE, MINUTE, record, T0, waiting } from './fake-context.ts';

const run = (status: Run['status'], error?: string): Run => ({ status, error });

function changeOf(decision: Decision): Change {
  if (!('change' in decision)) throw new Error(`${decision.kind} changes nothing`);
  return decision.change;
}
const failure = (task: TaskRecord, decision: Decision) => JSON.parse(changed(task, changeOf(decision)).error ?? '');

const unlessEnded = ({ due, dueAt, ...task }: TaskRecord): TaskRecord =>
  isTerminal(task.status) || due === undefined ? task : { ...task, due, dueAt: dueAt ?? T0 };

describe('a record alone', () => {
  test('that is gone, or has ended, is nothing to do in any state of its run', () => {
    for (const seen of [undefined, run('missing'), run('FAILED', 'x')]) {
      expect(decide(undefined, END + 1, seen)).toEqual({ kind: 'nothing' });
      for (const status of ['completed', 'failed', 'cancelled'] as const) {
        expect(decide(unlessEnded(record({ status })), END + 1, seen)).toEqual({ kind: 'nothing' });
      }
    }
  });

  test('past its deadline and the grace is failed as readers see it, and its run stopped (row 13)', () => {
    expect(decide(record(), END)).toEqual({ kind: 'check' });
    const decision = decide(record(), END + 1);
    expect(decision).toMatchObject({ kind: 'overdue', stop: true });
    expect(changed(record(), changeOf(decision))).toMatchObject({ status: 'failed', updatedAt: END });
    expect(failure(record(), decision).data).toEqual({ reason: 'DeadlineExceeded' });
  });

  test('that waits for an answer has no run: past its deadline and the grace it fails (row 17)', () => {
    expect(decide(waiting(), T0 + 10.5 * MINUTE)).toEqual({ kind: 'nothing' });
    const decision = decide(waiting(), T0 + 10.5 * MINUTE + 1);
    expect(decision).toEqual({ kind: 'unanswered', change: expect.anything() });
    expect(changed(waiting(), changeOf(decision))).toMatchObject({ status: 'failed', updatedAt: T0 + 10 * MINUTE });
  });

  test('past its ttl keeps its run until the deadline, then fails and leaves the index (row 18)', () => {
    const task = record({ ttl: 2 * MINUTE, deadlineAt: T0 + 2 * MINUTE });
    expect(decide(task, T0 + 2 * MINUTE)).toEqual({ kind: 'nothing' });
    expect(decide(task, T0 + 2 * MINUTE, run('missing'))).toEqual({ kind: 'nothing' });
    const change = changeOf(decide(task, T0 + 2 * MINUTE + GRACE + 1));
    expect(changed(task, change)).not.toHaveProperty('due');
    expect(changed(task, change)).not.toHaveProperty('dueAt');
  });

  test('of a round too young to check, which only a stale index shows, is left alone', () => {
    expect(decide(record(), T0 + MINUTE - 1)).toEqual({ kind: 'nothing' });
    expect(decide(record(), T0 + MINUTE)).toEqual({ kind: 'check' });
  });

  test('in time is a matter of its run', () => {
    expect(decide(answered(), T0 + MINUTE)).toEqual({ kind: 'check' });
  });
});

describe('a working task and its run', () => {
  test('running: nothing is wrong, and the sweep comes back in five minutes (row 5)', () => {
    const decision = decide(record(), T0 + MINUTE, run('RUNNING'));
    expect(decision.kind).toBe('postponed');
    expect(changed(record(), changeOf(decision))).toEqual(record({ seenRound: 1, dueAt: T0 + 6 * MINUTE }));
  });

  test.each([
    [6, 12],
    [40, 80],
    [90, 150],
    [24 * 60 - 5, 24 * 60 + 0.5],
  ])('running after %i minutes: the next check is after %i, an hour later at most', (now, next) => {
    const task = record({ ttl: 25 * 60 * MINUTE, deadlineAt: T0 + 24 * 60 * MINUTE });
    const decision = decide(task, T0 + now * MINUTE, run('RUNNING'));
    expect(changeOf(decision).set.dueAt).toBe(T0 + next * MINUTE);
  });

  test('seen before, and gone: it is not started again, and the task fails (row 13)', () => {
    for (const task of [record({ seenRound: 1 }), answered({ seenRound: 2 })]) {
      expect(decide(task, T0 + MINUTE)).toEqual({ kind: 'check_again' });
      const decision = decide(task, T0 + 6 * MINUTE, run('missing'));
      expect(decision).toEqual({ kind: 'run_ended', change: expect.anything() });
      expect(failure(task, decision)).toMatchObject({ data: { reason: 'ExecutionDoesNotExist' } });
    }
    expect(decide(answered({ seenRound: 1 }), T0 + MINUTE, run('missing')).kind).toBe('not_restarted');
  });

  test('never started: the client never got the id, so it is failed, not started (row 4)', () => {
    const decision = decide(record(), T0 + MINUTE, run('missing'));
    expect(decision).toMatchObject({ kind: 'never_started', stop: true });
    expect(decision).not.toHaveProperty('start');
    expect(failure(record(), decision)).toEqual({ code: -32603, message: 'The task could not be started' });
  });

  test('answered but not restarted: it is restarted, and checked again in a minute (row 16)', () => {
    const decision = decide(answered(), T0 + 2 * MINUTE, run('missing'));
    expect(decision).toMatchObject({ kind: 'not_restarted', start: true });
    const events = [...(answered().events ?? []), { at: T0 + 2 * MINUTE, what: 'restarted', round: 2 } as const];
    expect(changed(answered(), changeOf(decision))).toEqual(answered({ dueAt: T0 + 3 * MINUTE, events }));
    const late = decide(answered(), END - 30_001, run('missing'));
    expect(changeOf(late).set.dueAt).toBe(END);
    // Within the grace it is too late for any work.
    for (const now of [END - GRACE, END - 1])
      expect(decide(answered(), now, run('missing'))).toEqual({ kind: 'nothing' });
  });

  test.each(['FAILED', 'TIMED_OUT', 'ABORTED', 'SUCCEEDED'] as const)(
    '%s without a write: failed (rows 11, 13)',
    (status) => {
      for (const task of [record(), answered()]) {
        const decision = decide(task, T0 + MINUTE, run(status, 'DynamoDB.InternalServerError'));
        expect(decision).toEqual({ kind: 'run_ended', change: expect.anything() });
        expect(failure(task, decision)).toEqual({
          code: -32603,
          message: 'The run of the tool ended without a result',
          data: { reason: 'DynamoDB.InternalServerError' },
        });
      }
    },
  );

  test('SUCCEEDED, but its result was too late to be written: out of time', () => {
    const decision = decide(record(), END - GRACE + limits.lateWrite + 1, run('SUCCEEDED'));
    expect(decision).toEqual({ kind: 'overdue', change: expect.anything() });
    expect(failure(record(), decision).data).toEqual({ reason: 'DeadlineExceeded' });
    expect(decide(record(), END - GRACE + limits.lateWrite, run('SUCCEEDED')).kind).toBe('run_ended');
  });

  test.each([undefined, '', 'no spaces', 'at f (/var/task/index.js:1:1)', 'x'.repeat(129)])(
    'the name of its error is shown only if it is one: %j (A-15)',
    (error) => {
      expect(failure(record(), decide(record(), T0 + MINUTE, run('FAILED', error))).data).toEqual({
        reason: 'States.TaskFailed',
      });
    },
  );
});

describe('a tool that is a state machine', () => {
  const now = T0 + 8 * MINUTE;
  const seen = record({ seenRound: 1 });
  const work = (status: Execution['status'], more: Partial<Execution> = {}): Execution => ({
    ...{ status, stoppedAt: now - 4 * MINUTE },
    ...more,
  });
  const running = (of: Execution) => ({ status: 'RUNNING', input: '{"arguments":"{\\"n\\":1.0}"}', work: of }) as const;

  test('its workflow missed its success for four minutes: the result is written exactly', () => {
    const decision = decide(seen, now, running(work('SUCCEEDED', { output: '{"n":9007199254740993}' })));
    expect(decision).toMatchObject({ kind: 'run_ended', stop: true });
    const task = changed(seen, changeOf(decision));
    expect(task).toMatchObject({ status: 'completed', result: '{"n":9007199254740993}', isError: false });
    for (const gone of ['due', 'dueAt', 'inputResponses']) expect(task).not.toHaveProperty(gone);
  });

  test.each([
    ['{"isError":true}', { status: 'completed', isError: true }],
    ['{"isError":1}', { status: 'completed', isError: false }],
    ['"\\"isError\\""', { status: 'completed', isError: false }],
    ['[{"inputRequests":{}}]', { status: 'completed', isError: false }],
    ['{"inputRequests":null}', { status: 'input_required', asked: '{"inputRequests":null}', arguments: '{"n":1.0}' }],
  ])('%s is read as its workflow reads it', (output, expected) => {
    const decision = decide(seen, now, running(work('SUCCEEDED', { output })));
    expect(changed(seen, changeOf(decision))).toMatchObject(expected);
  });

  test('its workflow may still notice: the sweep comes back in four minutes', () => {
    const decision = decide(seen, now, running(work('SUCCEEDED', { output: '1', stoppedAt: now - 4 * MINUTE + 1 })));
    expect(decision).toMatchObject({ kind: 'postponed', change: { set: { dueAt: END } } });
    const task = { ...seen, deadlineAt: T0 + 60 * MINUTE };
    expect(decide(task, now, running(work('FAILED', { stoppedAt: now }))).kind).toBe('postponed');
    const { change } = decide(task, now, running(work('FAILED', { stoppedAt: now }))) as { change: Change };
    expect(change.set).toEqual({ dueAt: now + 4 * MINUTE });
  });

  test.each(['missing', 'RUNNING'] as const)(
    'one that is %s says nothing while the workflow runs (row 23)',
    (status) => {
      const task = { ...seen, deadlineAt: T0 + 60 * MINUTE };
      // Whatever the time of its last end: a redrive leaves it there.
      expect(decide(task, now, running(work(status)))).toEqual(decide(task, now, run('RUNNING')));
    },
  );

  test('questions without the arguments of their round fail the task', () => {
    const asks = work('SUCCEEDED', { output: '{"inputRequests":{}}' });
    const decision = decide(seen, now, { status: 'FAILED', error: 'X', work: asks });
    expect(changed(seen, changeOf(decision))).toMatchObject({ status: 'failed' });
  });

  test('arguments that the workflow would not keep are not kept here', () => {
    const input = '{"arguments":"{\\"n\\":1}","keepArguments":false}';
    const run = { status: 'RUNNING', input, work: work('SUCCEEDED', { output: '{"inputRequests":{}}' }) } as const;
    const task = changed(seen, changeOf(decide(seen, now, run)));
    expect(task.status).toBe('input_required');
    expect(task).not.toHaveProperty('arguments');
  });

  test('its workflow has ended, too: the outcome of the machine counts', () => {
    const died = { status: 'FAILED', error: 'DynamoDB.InternalServerError' } as const;
    const end = (of: Execution) => changed(seen, changeOf(decide(seen, now, { ...died, work: of })));
    expect(end(work('SUCCEEDED', { output: '7' }))).toMatchObject({ status: 'completed', result: '7' });
    expect(end(work('FAILED', { error: 'OutOfStock' })).error).toContain('"OutOfStock"');
    expect(end(work('TIMED_OUT')).error).toContain('"States.Timeout"');
    for (const status of ['ABORTED', 'RUNNING', 'missing'] as const) {
      expect(end(work(status)).error).toContain('"DynamoDB.InternalServerError"');
    }
  });

  test('past the deadline its result is too late', () => {
    const late = END - GRACE + limits.lateWrite + 1;
    const decision = decide(seen, late, running(work('SUCCEEDED', { output: '1' })));
    expect(decision).toMatchObject({ kind: 'overdue', stop: true });
    expect(failure(seen, decision).data).toEqual({ reason: 'DeadlineExceeded' });
  });
});

const toldSoon = (task: TaskRecord): Change => {
  const change = lapse(task, task.deadlineAt + GRACE + 1);
  if (change === undefined) throw new Error('it is over');
  return change;
};

const anyTask = fc
  .record({
    status: fc.constantFrom<Status>('working', 'waiting', 'input_required', 'completed', 'failed', 'cancelled'),
    round: fc.integer({ min: 1, max: 3 }),
    timeout: fc.integer({ min: 1, max: 70 }),
  })
  .map(({ status, round, timeout }) =>
    unlessEnded(waiting({ status, round, deadlineAt: T0 + timeout * MINUTE, dueAt: T0 + MINUTE })),
  );
const anyRun = fc.option(
  fc.constantFrom<Run>(run('missing'), run('RUNNING'), run('FAILED'), run('SUCCEEDED'), run('ABORTED')),
  { nil: undefined },
);
const anyTime = fc.integer({ min: T0, max: T0 + 80 * MINUTE });

describe('any task, any run and any time', () => {
  test('a change applies to that status and round only: what came between wins (rows 12, 14, 15)', () => {
    fc.assert(
      fc.property(anyTask, anyRun, anyTime, (task, seen, now) => {
        const decision = decide(task, now, seen);
        if (!('change' in decision)) return;
        const change = changeOf(decision);
        expect(applied(task, change)).toBeDefined();
        for (const status of ['completed', 'failed', 'cancelled'] as const) {
          expect(applied({ ...task, status }, change)).toBeUndefined();
        }
        const other = task.status === 'working' ? 'input_required' : 'working';
        expect(applied({ ...task, status: other }, change)).toBeUndefined();
        expect(applied({ ...task, round: task.round + 1 }, change)).toBeUndefined();
      }),
    );
  });

  test('what is written is what readers saw; no reader sees a change of a time or an event only', () => {
    fc.assert(
      fc.property(anyTask, anyRun, anyTime, (task, seen, now) => {
        const decision = decide(task, now, seen);
        const shown = asOf(task, now);
        if (!('change' in decision) || shown === undefined) return;
        const written = changed(task, decision.change);
        if (shown.status !== task.status) expect(written).toEqual(shown);
        else if (written.status === task.status)
          expect({ ...written, dueAt: task.dueAt, seenRound: undefined, events: task.events }).toEqual(task);
      }),
    );
  });

  test('a failure after the last write is what readers soon see, and never anything else', () => {
    fc.assert(
      fc.property(anyTask, anyRun, fc.integer({ min: 1, max: GRACE }), (task, seen, late) => {
        const decision = decide(task, task.deadlineAt + limits.lateWrite + late, seen);
        if (!('change' in decision)) return;
        const written = changed(task, decision.change);
        if (written.status === 'failed') expect(written).toEqual(changed(task, toldSoon(task)));
      }),
    );
  });

  test('it is due again later, or never: no sweep meets the same task twice for the same reason', () => {
    fc.assert(
      fc.property(anyTask, anyRun, anyTime, (task, seen, now) => {
        const decision = decide(task, now, seen);
        if (!('change' in decision)) return;
        const { dueAt } = changed(task, decision.change);
        if (dueAt !== undefined) expect(dueAt).toBeGreaterThanOrEqual(now);
      }),
    );
  });
});
