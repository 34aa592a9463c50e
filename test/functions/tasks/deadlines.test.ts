import { describe, expect, test } from 'vitest';
import { asOf, lapse, overdue } from '../../../functions/tasks/deadlines.ts';
import { now, record, statuses } from './applied.ts';

describe('what a reader sees', () => {
  test.each(['working', 'input_required'] as const)(
    '%s past its deadline: a writer writes exactly what readers see, to the time of it',
    (status) => {
      const late = record({ status });
      const written = overdue(late, late.deadlineAt + 10_001);
      expect(written).toBeDefined();
      expect(written).toEqual(lapse(late, late.deadlineAt + 30_001));
    },
  );

  test('waiting for an answer fails with the deadline, shown once no answer can still arrive', () => {
    const waiting = record({ status: 'input_required' });
    expect(asOf(waiting, now + 40_000)?.status).toBe('input_required');
    expect(asOf(waiting, now + 40_001)).toMatchObject({ status: 'failed', updatedAt: now + 10_000 });
    expect(asOf(waiting, now + 40_001)).not.toHaveProperty('asked');
  });

  test('past its ttl a task is gone, in every status (E-28)', () => {
    for (const status of statuses) expect(asOf(record({ status, ttl: 60_000 }), now + 60_000)).toBeUndefined();
  });

  test('past its deadline and the grace an unfinished task reads as failed', () => {
    expect(asOf(record(), now + 40_000)?.status).toBe('working');
    expect(asOf(record(), now + 40_001)).toMatchObject({ status: 'failed', updatedAt: now + 40_000 });
    expect(asOf(record({ status: 'completed' }), now + 40_001)?.status).toBe('completed');
  });
});
