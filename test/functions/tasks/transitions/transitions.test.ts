import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asOf } from '../../../../functions/tasks/deadlines.ts';
import { failure } from '../../../../functions/tasks/failures.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { answer } from '../../../../functions/tasks/transitions/answers.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { type Change, canMove, isTerminal } from '../../../../functions/tasks/transitions/change.ts';
import { cancel, fail, withdraw } from '../../../../functions/tasks/transitions/end.ts';
import { confirmStart } from '../../../../functions/tasks/transitions/run.ts';
import { applied, now, record, statuses } from '../applied.ts';

const failed = failure('ToolFailed');
describe('moves', () => {
  test('terminal states never change, and nothing moves to itself (C-10, E-14)', () => {
    for (const from of statuses) {
      for (const to of statuses) {
        const legal =
          from !== to &&
          (from === 'working' || from === 'input_required') &&
          (to !== 'working' || from === 'input_required');
        expect(canMove(from, to), `${from} -> ${to}`).toBe(legal);
      }
    }
  });

  test('a withdrawn task has failed, is never due, and is gone for readers at once (row 2)', () => {
    const withdrawn = applied(record(), withdraw(record(), now + 40));
    expect(withdrawn).toMatchObject({ status: 'failed', ttl: 40, expiresAt: now / 1_000 + 1 });
    expect(withdrawn).not.toHaveProperty('due');
    expect(withdrawn && [asOf(withdrawn, now + 39)?.status, asOf(withdrawn, now + 40)]).toEqual(['failed', undefined]);
    expect(applied(record({ status: 'cancelled' }), withdraw(record(), now))).toBeUndefined();
    expect(applied(record({ round: 2 }), withdraw(record(), now))).toBeUndefined();
  });

  test('a task begins working, in round 1, listed as unfinished (C-09)', () => {
    expect(record()).toMatchObject({ status: 'working', round: 1, dueAt: now + 60_000, inputResponses: {} });
  });

  test('a ttl is a wish: the record outlives its work by 5 min, and its ttl by a day (C-11)', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 ** 9 }), fc.integer({ min: 1_000, max: 900_000 }), (ttl, timeout) => {
        const made = create({ owner: 'o', taskId: 't' }, { tool: 'x', ttl, timeout, accepts: [], legacy: false }, now);
        expect(made.deadlineAt).toBe(now + timeout);
        expect(made.ttl).toBe(Math.max(ttl, timeout + 300_000));
        expect(made.expiresAt * 1_000).toBeGreaterThanOrEqual(now + made.ttl + 24 * 3_600_000);
      }),
    );
  });

  test('any order of any changes: once terminal, the record stays as it is (C-10, C-27)', () => {
    const changes = fc.constantFrom<(r: TaskRecord) => Change>(
      () => cancel(now + 1),
      () => fail(failed, now + 2),
      (r) => confirmStart(r, now + 3),
      (r) => answer(r, ['r1.a'], { 'r1.a': '{}' }, now + 4),
      () => ({ from: ['working'], round: 1, set: { status: 'completed', result: '1' } }),
      () => ({ from: ['working'], round: 1, set: { status: 'input_required', asked: '{}' } }),
    );
    fc.assert(
      fc.property(fc.array(changes, { maxLength: 12 }), (steps) => {
        let current = record();
        for (const step of steps) {
          const next = applied(current, step(current));
          if (isTerminal(current.status)) expect(next).toBeUndefined();
          else if (next && next.status !== current.status) expect(canMove(current.status, next.status)).toBe(true);
          current = next ?? current;
        }
      }),
    );
  });
});

describe('answers', () => {
  const asking = record({ status: 'input_required', arguments: '{}', asked: '{}' });

  test('a partial answer leaves the task waiting (E-19)', () => {
    const after = applied(asking, answer(asking, ['r1.a', 'r1.b'], { 'r1.a': '{}' }, now));
    expect(after).toMatchObject({ status: 'input_required', round: 1, inputResponses: { 'r1.a': '{}' } });
  });

  test('the last answer starts the next round in the same write (C-22)', () => {
    const after = applied(asking, answer(asking, ['r1.a'], { 'r1.a': '{}' }, now));
    expect(after).toMatchObject({ status: 'working', round: 2, dueAt: now + 40_000 });
  });

  test('two answers decided on the same record: the second one loses (F-09)', () => {
    const first = answer(asking, ['r1.a', 'r1.b'], { 'r1.a': '1' }, now);
    const second = answer(asking, ['r1.a', 'r1.b'], { 'r1.a': '2' }, now);
    const after = applied(asking, first);
    expect(after && applied(after, second)).toBeUndefined();
  });
});
