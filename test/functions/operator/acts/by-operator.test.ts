import { expect, test } from 'vitest';
import { byOperator } from '../../../../functions/operator/acts/act.ts';
import type { TaskEvent, TaskRecord } from '../../../../functions/tasks/record.ts';
import { answer } from '../../../../functions/tasks/transitions/answers.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { cancel } from '../../../../functions/tasks/transitions/end.ts';

const task = { tool: 'x', ttl: 3_600_000, timeout: 60_000, accepts: [], legacy: false };
const ann = { who: 'ann', reason: 'INC-7' };
const events = (count: number, event: Partial<TaskEvent> = {}): TaskEvent[] =>
  Array.from({ length: count }, () => ({ at: 1, what: 'refused', ...event }));
const record = (more: Partial<TaskRecord>): TaskRecord => ({
  ...create({ owner: 'o', taskId: 'a' }, task, 1),
  ...more,
});
const answered = (all: TaskEvent[]) => {
  const full = record({ status: 'input_required', asked: '{}', events: all });
  return byOperator(full, answer(full, ['r1.a'], { 'r1.a': '1' }, 9), 'answered', ann).event;
};

test('who and why are added to a record that is full for others, at most 12 times', () => {
  expect(answered(events(12))).toEqual({ at: 9, what: 'answered', ...ann });
  expect(answered([...events(25), ...events(11, { by: 'operator' })])).toBeDefined();
  expect(answered([...events(25), ...events(12, { by: 'operator' })])).toBeUndefined();
  const full = record({ events: events(60, { by: 'operator' }) });
  expect(byOperator(full, cancel(9), 'cancelled', ann).event).toEqual({ at: 9, what: 'cancelled', ...ann });
});

test('the event of an operator names a later round, and keeps 200 characters of who and why', () => {
  const many = 'x'.repeat(201);
  const full = record({ status: 'input_required', asked: '{}', round: 2, events: events(20) });
  const { event } = byOperator(full, answer(full, ['r2.a'], { 'r2.a': '1' }, 9), 'answered', {
    who: many,
    reason: many,
  });
  expect(event).toEqual({ at: 9, what: 'answered', round: 2, who: 'x'.repeat(200), reason: 'x'.repeat(200) });
});
