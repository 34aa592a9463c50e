import { type Engine, engineOf, traitsOf } from '../engines.ts';
import { shardOf } from '../ids.ts';
import { limits } from '../limits.ts';
import type { TaskRecord } from '../record.ts';
import { type Change, dueBy, isTerminal } from './change.ts';
import { openEvent } from './event.ts';

const ENDED = ['completed', 'failed', 'cancelled'] as const;

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

/**
 * The end of a task whose run may go on. It stays due until Step Functions has accepted the stop of the run: so the sweep stops it
 * after a crash, or when there was no room for one more stop (docs/crash-table.md, row 15).
 */
export function untilStopped(record: TaskRecord, change: Change, now: number): Change {
  const { status } = change.set;
  const ends = record.status === 'working' && status !== undefined && isTerminal(status);
  if (!ends || !traitsOf(record).canBeStopped) return change;
  const remove = change.remove?.filter((field) => field !== 'due') ?? [];
  return { ...change, set: { ...change.set, dueAt: now + limits.firstDue }, remove };
}

/** The run of a task that has ended could not be stopped. The sweep tries again. */
export function stopLater({ taskId }: TaskRecord, now: number, after: number = limits.firstDue): Change {
  return { from: ENDED, set: { due: String(shardOf(taskId, limits.dueShards)), dueAt: now + after } };
}

/** Step Functions has accepted the stop of the run, or there is none. */
export const stopped: Change = { from: ENDED, set: {}, remove: ['due', 'dueAt'] };

/** The round was started again on `engine`, where its run can be seen: its first start was lost, or its run died. */
export function restarted(record: TaskRecord, engine: Engine, now: number): Change {
  const { set, ...change } = isSeen(record) ? confirmStart(record, now) : checkAgain(record, now);
  const moved = engine === engineOf(record) ? {} : { engine };
  return { ...change, set: { ...set, ...moved }, ...openEvent('restarted', record, now) };
}
