import { type Engine, engineOf } from '../engines.ts';
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
  return { from: [record.status], round: record.round, set: { dueAt: dueBy(record, now + after) } };
}

/** The round was started again on `engine`, where its run can be seen: its first start was lost, or its run died. */
export function restarted(record: TaskRecord, engine: Engine, now: number): Change {
  const { set, ...change } = isSeen(record) ? confirmStart(record, now) : checkAgain(record, now);
  const moved = engine === engineOf(record) ? {} : { engine };
  return { ...change, set: { ...set, ...moved }, ...openEvent('restarted', record, now) };
}
