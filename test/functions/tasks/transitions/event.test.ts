import { expect, test } from 'vitest';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { endEvent, openEvent } from '../../../../functions/tasks/transitions/event.ts';

const task = { tool: 'x', ttl: 60_000, timeout: 60_000, accepts: [], legacy: false };
const record = (more: Partial<TaskRecord>): TaskRecord => ({
  ...create({ owner: 'o', taskId: 't' }, task, 0),
  ...more,
});
const holding = (count: number) => record({ events: Array.from({ length: count }, () => ({ at: 1, what: 'asked' })) });

test('an event names its round from the second one on', () => {
  expect(openEvent('asked', record({ round: 1 }), 5)).toEqual({ event: { at: 5, what: 'asked' } });
  expect(openEvent('asked', record({ round: 2 }), 5)).toEqual({ event: { at: 5, what: 'asked', round: 2 } });
  expect(endEvent('failed', record({ round: 3 }), 5)).toEqual({ at: 5, what: 'failed', round: 3 });
});

test('a record that holds enough events gets its end only', () => {
  expect(openEvent('asked', holding(limits.events.others - 1), 5)).toHaveProperty('event');
  expect(openEvent('asked', holding(limits.events.others), 5)).toEqual({});
  expect(endEvent('completed', holding(limits.events.others), 5)).toMatchObject({ what: 'completed' });
});

test('a record that holds the scopes of its tool has room for fewer events', () => {
  const { others, bytes } = limits.events;
  const scopes = ['a'.repeat(bytes), 'b'];
  expect(openEvent('asked', { ...holding(others - 3), scopes }, 5)).toHaveProperty('event');
  expect(openEvent('asked', { ...holding(others - 2), scopes }, 5)).toEqual({});
});
