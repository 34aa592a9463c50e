import { limits } from '../limits.ts';
import type { TaskRecord } from '../record.ts';
import { type Change, dueBy } from './change.ts';
import { openEvent } from './event.ts';

/** The run of a working task's round exists. The sweep comes back to check whether it still runs. */
export function confirmStart(record: TaskRecord, now: number): Change {
  const { min, max } = limits.nextCheck;
  const next = now + Math.min(max, Math.max(min, now - record.createdAt));
  return { from: ['working'], round: record.round, set: { seenRound: record.round, dueAt: dueBy(record, next) } };
}

/** Whether the run of the record's round was seen. */
export const isSeen = ({ round, seenRound }: TaskRecord): boolean => seenRound === round;

/** The sweep comes back after `after` ms to check whether the round runs. */
export function checkAgain(record: TaskRecord, now: number, after: number = limits.firstDue): Change {
  return { from: ['working'], round: record.round, set: { dueAt: dueBy(record, now + after) } };
}

/** The round was started again: its first start was lost. */
export function restarted(record: TaskRecord, now: number): Change {
  return { ...checkAgain(record, now), ...openEvent('restarted', record, now) };
}
