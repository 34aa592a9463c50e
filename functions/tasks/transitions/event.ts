import { limits } from '../limits.ts';
import type { TaskEvent, TaskRecord } from '../record.ts';

/** Whether a record has no room for another event, beside all else that an open record may hold: it stays below 4 KB. */
export function isFullOfEvents({ events, scopes = [] }: Pick<TaskRecord, 'events' | 'scopes'>): boolean {
  const { others, bytes } = limits.events;
  return events.length >= others - Math.ceil(scopes.join(' ').length / bytes);
}

/** For the change of a task that goes on. Nothing once its record holds enough events: then only its end is added. */
export function openEvent(what: TaskEvent['what'], record: TaskRecord, at: number): { readonly event?: TaskEvent } {
  if (isFullOfEvents(record)) return {};
  return { event: { at, what, ...roundOf(record) } };
}

export function endEvent(what: 'completed' | 'failed', record: TaskRecord, at: number): TaskEvent {
  return { at, what, ...roundOf(record) };
}

const roundOf = ({ round }: TaskRecord): Pick<TaskEvent, 'round'> => (round > 1 ? { round } : {});
