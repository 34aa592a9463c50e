import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { failure } from '../../../../functions/tasks/failures.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { answer } from '../../../../functions/tasks/transitions/answers.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { type Change, canMove, isTerminal } from '../../../../functions/tasks/transitions/change.ts';
import { cancel, fail } from '../../../../functions/tasks/transitions/end.ts';
import { confirmStart } from '../../../../functions/tasks/transitions/run.ts';
import { applied, now, record, statuses } from '../applied.ts';

const failed = failure('ToolFailed');
describe('moves', () => {
  test('terminal states never change, and nothing moves to itself (C-10, E-14)', () => {
    for (const from of statuses) {
      for (const to of statuses) {
        const legal =
          from !== to &&
          !isTerminal(from) &&
          // Only a run asks or waits, and only a run without waits has a result.
          (from !== 'waiting' || ['working', 'failed', 'cancelled'].includes(to)) &&
          (from !== 'input_required' || to !== 'waiting');
        expect(canMove(from, to), `${from} -> ${to}`).toBe(legal);
      }
    }
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

  test('two answers decided on the same record: the second one loses (F-09)', () => {
    const first = answer(asking, ['r1.a', 'r1.b'], { 'r1.a': '1' }, now);
    const second = answer(asking, ['r1.a', 'r1.b'], { 'r1.a': '2' }, now);
    const after = applied(asking, first);
    expect(after && applied(after, second)).toBeUndefined();
  });
});
