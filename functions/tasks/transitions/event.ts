import { limits } from '../limits.ts';
import type { TaskEvent, TaskRecord } from '../record.ts';

/** For the change of a task that goes on. Nothing once its record holds enough events: then only its end is added. */
export function openEvent(what: TaskEvent['what'], record: TaskRecord, at: number): { readonly event?: TaskEvent } {
  if (record.events.length >= limits.events.others) return {};
  return { event: { at, what, ...roundOf(record) } };
}

export function endEvent(what: 'completed' | 'failed', record: TaskRecord, at: number): TaskEvent {
  return { at, what, ...roundOf(record) };
}

const roundOf = ({ round }: TaskRecord): Pick<TaskEvent, 'round'> => (round > 1 ? { round } : {});
