import { describe, expect, test } from 'vitest';
import { asOf, lapse, overdue, unaskable } from '../../../../functions/tasks/deadlines.ts';
import { failure } from '../../../../functions/tasks/failures.ts';
import { refusalsOf, withRefusal } from '../../../../functions/tasks/input.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { withProgress } from '../../../../functions/tasks/table/progress-item.ts';
import { answer, refuseAnswer } from '../../../../functions/tasks/transitions/answers.ts';
import { askFirst, create, createRefused } from '../../../../functions/tasks/transitions/begin.ts';
import { after as leftBy } from '../../../../functions/tasks/transitions/change.ts';
import {
  cancel,
  fail,
  failAsSeen,
  isWithdrawn,
  keyExpired,
  withdraw,
} from '../../../../functions/tasks/transitions/end.ts';
import { checkAgain, confirmStart, restarted } from '../../../../functions/tasks/transitions/run.ts';
import { resume } from '../../../../functions/tasks/transitions/waits.ts';

const now = 1_700_000_000_000;
const key = { owner: 'o', taskId: 't' };
const task = { tool: 'x', ttl: 3_600_000, timeout: 100_000, accepts: ['roots/list'], legacy: false };
const asked = JSON.stringify({ inputRequests: { a: { method: 'roots/list' } } });
const record = (over: Partial<TaskRecord> = {}): TaskRecord => ({ ...create(key, task, now), ...over });
const waiting = (over: Partial<TaskRecord> = {}) => record({ status: 'input_required', asked, round: 3, ...over });
const failed = failure('ToolFailed', { reason: 'TypeError' });
const open = ['working', 'waiting', 'input_required'];
const RUNNING = [
  'due',
  'dueAt',
  'asked',
  'arguments',
  'inputResponses',
  'inputRef',
  'waits',
  'signalled',
  'early',
  'refused',
  'progressToken',
];

describe('a new record', () => {
  test('has what every task has, and nothing that its call did not bring (C-09)', () => {
    expect(create(key, { ...task, accepts: [] }, now)).toStrictEqual({
      ...{ ...key, version: 1, status: 'working', round: 1, tool: 'x', createdAt: now, updatedAt: now },
      ...{ ttl: 3_600_000, deadlineAt: now + 100_000, inputResponses: {}, due: expect.stringMatching(/^\d+$/) },
      ...{ dueAt: now + 60_000, expiresAt: now / 1_000 + 3_600 + 86_400 },
      events: [{ at: now, what: 'created' }],
    });
  });

  test('keeps what its call brought', () => {
    const brought = {
      ...{ accepts: ['roots/list'], progressToken: 0, digest: 'd', outputSchemaId: 's', scopes: ['a'] },
      inputResponses: { 'r0.a': '{}' },
    };
    expect(create(key, { ...task, ...brought, legacy: true }, now)).toMatchObject({ ...brought, legacy: true });
  });

  test('of a refused call has ended, and is due for nothing (A-14, C-07)', () => {
    const { due: _due, dueAt: _dueAt, ...rest } = record();
    const events = [
      { at: now, what: 'created' },
      { at: now, what: 'completed' },
    ];
    expect(createRefused(record(), '{}')).toEqual({
      ...rest,
      ...{ status: 'completed', result: '{}', isError: true, events },
    });
  });
});

describe('each change, to the letter', () => {
  test('a cancel ends what has not ended, and drops what only a run needs (C-25)', () => {
    expect(cancel(now)).toEqual({
      from: open,
      set: { status: 'cancelled', updatedAt: now, statusMessage: 'Cancelled by the client' },
      remove: RUNNING,
      event: { at: now, what: 'cancelled' },
    });
  });

  const said = { failure: 'ToolFailed', statusMessage: 'The tool failed', error: JSON.stringify(failed.error) };
  const written = { status: 'failed', updatedAt: now, ...said };

  test('a failure does the same, in any round or only for the record that was seen', () => {
    const event = { at: now, what: 'failed' };
    expect(fail(failed, now)).toEqual({ from: open, set: written, remove: RUNNING, event });
    const seen = { from: ['input_required'], round: 3, set: written, remove: RUNNING, event: { ...event, round: 3 } };
    expect(failAsSeen(waiting(), failed, now)).toEqual(seen);
  });

  test.each([
    ['', {}],
    [', also if the task then sleeps on', { waits: JSON.stringify({ a: { kind: 'time', until: now + 1 } }) }],
  ])('no report of a round before the question counts after it%s', (_also, waits) => {
    const asking = waiting({ round: 3, reportsFrom: 1, ...waits });
    const answered = leftBy(asking, answer(asking, ['r3.a'], { 'r3.a': '{}' }, now));
    const next = answered.status === 'waiting' ? leftBy(answered, resume(answered, 'standard', now + 1)) : answered;
    expect(next).toMatchObject({ status: 'working', round: 4 });
    const shown = [answered, next].map((one) => withProgress(one, { round: 3, statusMessage: 'x', updatedAt: now }));
    expect(shown.map(({ statusMessage }) => statusMessage)).toEqual([undefined, undefined]);
    expect(withProgress(next, { round: 4, statusMessage: 'y', updatedAt: now }).statusMessage).toBe('y');
  });

  test('an idempotency key whose task is gone says so (C-28)', () => {
    const { set } = keyExpired(record(), now);
    const message = 'The task of this idempotency key has expired: use a new key';
    expect(set).toMatchObject({ statusMessage: message, error: JSON.stringify({ code: -32602, message }) });
  });

  test('a withdrawn task says that it did not start, and is over now (row 2)', () => {
    const { error } = failure('NotStarted', { reason: 'Unavailable' });
    expect(withdraw(record(), now + 1_500)).toEqual({
      ...{ from: ['working'], round: 1, remove: RUNNING, event: { at: now + 1_500, what: 'failed' } },
      set: {
        ...{
          status: 'failed',
          failure: 'NotStarted',
          updatedAt: now + 1_500,
          statusMessage: error.message,
          error: JSON.stringify(error),
        },
        ...{ ttl: 1_500, expiresAt: now / 1_000 + 2 },
      },
    });
    expect(withdraw(record(), now - 5).set.ttl).toBe(0);
    for (const at of [now + 1_500, now - 5]) expect(isWithdrawn(leftBy(record(), withdraw(record(), at)))).toBe(true);
    expect(isWithdrawn(leftBy(record(), failAsSeen(record(), failure('NotStarted'), now + 1_500)))).toBe(false);
  });

  test('a confirmed run is due again at twice its age, in 5 minutes to an hour', () => {
    const long = { round: 2, deadlineAt: now + 10 * 3_600_000 };
    const due = (age: number, dueIn: number) => ({
      ...{ from: ['working'], round: 2 },
      set: { seenRound: 2, dueAt: now + age + dueIn },
    });
    for (const [age, dueIn] of [
      [60_000, 300_000],
      [900_000, 900_000],
      [7_200_000, 3_600_000],
    ] as const)
      expect(confirmStart(record(long), now + age)).toEqual(due(age, dueIn));
  });

  test('the sweep comes back in a minute, or when it says, but no later than readers see its end', () => {
    const at = (dueAt: number) => ({ from: ['working'], round: 2, set: { dueAt } });
    expect(checkAgain(record({ round: 2 }), now)).toEqual(at(now + 60_000));
    expect(checkAgain(record({ round: 2 }), now, 5_000)).toEqual(at(now + 5_000));
    expect(checkAgain(record({ round: 2 }), now + 100_000)).toEqual(at(now + 130_000));
  });

  test('a tool that asks first waits until its deadline', () => {
    expect(askFirst(record(), asked, '{"n":1}', now + 1)).toEqual({
      ...{ from: ['working'], round: 1 },
      set: { status: 'input_required', updatedAt: now + 1, asked, arguments: '{"n":1}', dueAt: now + 130_000 },
      event: { at: now + 1, what: 'asked' },
    });
  });

  test('a refused answer is counted by its question, and the fifth one ends the task', () => {
    expect(refuseAnswer(waiting(), 'r3.a', now + 1)).toEqual({
      ...{ from: ['input_required'], round: 3, updatedAt: now },
      set: { updatedAt: now + 1, refused: withRefusal({}, 'r3.a') },
      event: { at: now + 1, what: 'refused', round: 3 },
    });
    const refused = (...keys: string[]) =>
      keys.reduce((seen, key) => leftBy(seen, refuseAnswer(seen, key, now)), waiting());
    const four = refused('r3.a', 'r3.b', 'r3.a', 'r3.a', 'r3.a');
    expect([refusalsOf(four, 'r3.a'), refusalsOf(four, 'r3.b'), four.status]).toEqual([4, 1, 'input_required']);
    const fifth = failAsSeen(four, failure('AnswerInvalid'), now);
    expect(refuseAnswer(four, 'r3.a', now)).toEqual({ ...fifth, updatedAt: four.updatedAt });
    // In the same millisecond, too, a write that has not seen another one loses.
    expect(leftBy(waiting(), refuseAnswer(waiting(), 'r3.a', now)).updatedAt).toBe(now + 1);
  });

  test('so does the 25th of a round, and their counts stay small', () => {
    const keys = Array.from({ length: 25 }, (_, i) => `r3.${String(i).padStart(128, 'x')}`);
    const one = keys.slice(1).reduce((seen, key) => leftBy(seen, refuseAnswer(seen, key, now)), waiting());
    expect(one.status).toBe('input_required');
    expect(JSON.stringify(one.refused).length).toBeLessThan(400);
    expect(leftBy(one, refuseAnswer(one, keys[0] as string, now))).toMatchObject({ failure: 'AnswerInvalid' });
  });

  test('the last answer starts the next round, without the counts of refusals (C-22)', () => {
    const before = waiting({ inputResponses: { 'r1.x': '1' } });
    const event = { at: now, what: 'answered', round: 3 };
    const base = { from: ['input_required'], round: 3, answerCount: 1, answers: 1, inputRef: null, event };
    const inputResponses = { 'r1.x': '1', 'r3.a': '2' };
    expect(answer(before, ['r3.a', 'r3.b'], { 'r3.a': '2' }, now)).toEqual({
      ...base,
      set: { updatedAt: now, inputResponses },
    });
    expect(answer(before, ['r3.a'], { 'r3.a': '2' }, now)).toEqual({
      ...base,
      set: { inputResponses, status: 'working', round: 4, updatedAt: now, dueAt: now + 60_000 },
      remove: ['waits', 'signalled', 'early', 'refused'],
    });
    const moved = answer(before, ['r3.a'], { 'r3.a': '2' }, now, 'machine');
    expect(moved.set.engine).toBe('machine');
    expect(answer(waiting({ inputResponses: undefined as never }), ['a'], {}, now).answerCount).toBe(0);
  });
});

describe('what a change leaves', () => {
  test('what it removes is gone, unless it sets it; the rest stays', () => {
    const change = { from: [], set: { digest: 'new' }, remove: ['digest', 'due'] as const };
    const left = leftBy(record({ digest: 'old' }), change);
    expect(left).toMatchObject({ digest: 'new', tool: 'x' });
    expect(left).not.toHaveProperty('due');
    expect(leftBy(record(), { from: [], set: {} })).toEqual(record());
  });

  test('it adds its event to those before it', () => {
    const event = { at: now, what: 'asked', round: 2 } as const;
    expect(leftBy(record(), { from: [], set: {}, event }).events).toEqual([...(record().events ?? []), event]);
  });

  test('from 12 events on only the end of a task is added, so a record stays small', () => {
    const events = Array.from({ length: 12 }, () => ({ at: now, what: 'answered' }) as const);
    const full = { events, inputResponses: {} };
    expect(answer(waiting(full), ['r3.a'], { 'r3.a': '1' }, now).event).toBeUndefined();
    expect(refuseAnswer(waiting(full), 'r3.a', now).event).toBeUndefined();
    expect(restarted(record({ events, round: 2 }), 'standard', now).event).toBeUndefined();
    expect(restarted(record({ round: 2 }), 'standard', now).event).toEqual({ at: now, what: 'restarted', round: 2 });
    expect(failAsSeen(waiting(full), failed, now).event).toEqual({ at: now, what: 'failed', round: 3 });
    expect(cancel(now).event).toBeDefined();
  });
});

describe('the end of a task that no write has ended', () => {
  const ended = (message: string) => JSON.stringify({ code: -32603, message, data: { reason: 'DeadlineExceeded' } });
  const tool = { error: ended('The tool did not finish in time') };
  const client = { error: ended('No answer came before the deadline') };

  test('says what was missing: the tool, or the answer', () => {
    expect(lapse(record(), now + 130_001)?.set).toMatchObject({ ...tool, updatedAt: now + 130_000 });
    expect(lapse(waiting(), now + 130_001)?.set).toMatchObject({ ...client, updatedAt: now + 100_000 });
    expect(lapse(record({ status: 'cancelled' }), now + 130_001)).toBeUndefined();
  });

  test('is closer for a client that would still answer than for a run that would still report', () => {
    expect(overdue(record(), now + 110_000)).toBeUndefined();
    expect(overdue(record(), now + 110_001)?.set).toMatchObject(tool);
    expect(overdue(waiting(), now + 100_000)).toBeUndefined();
    expect(overdue(waiting(), now + 100_001)?.set).toMatchObject(client);
    expect(overdue(record({ status: 'completed' }), now + 110_001)).toBeUndefined();
  });

  test('is there at once for a question that cannot be asked; old ones do not count', () => {
    const strange = { asked: '{}', updatedAt: now + 7 };
    expect(unaskable(waiting())).toBeUndefined();
    expect(unaskable(waiting(strange))?.set).toMatchObject({ status: 'failed', updatedAt: now + 7 });
    expect(asOf(waiting(strange), now + 8)?.status).toBe('failed');
    expect(asOf(record(strange), now + 8)?.status).toBe('working');
  });
});
