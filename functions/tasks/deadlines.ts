import { failure } from './failures.ts';
import { limits } from './limits.ts';
import { questionProblem } from './questions/question-problem.ts';
import type { TaskRecord } from './record.ts';
import { after, type Change, failVisibleAt, isTerminal } from './transitions/change.ts';
import { failAsSeen } from './transitions/end.ts';

/**
 * The record as every reader sees it at this moment, also after a crash: gone when its ttl has passed (E-28), failed
 * when it has lapsed (docs/architecture/tasks.md, "Statuses and moves").
 */
export function asOf(record: TaskRecord, now: number): TaskRecord | undefined {
  if (now >= record.createdAt + record.ttl) return undefined;
  const change = lapse(record, now);
  return change === undefined ? record : after(record, change);
}

/**
 * The failure of an unfinished task that no write has recorded yet: its deadline has passed, or its questions are not
 * valid. Readers see it at once, and the sweep writes the same.
 */
export function lapse(record: TaskRecord, now: number): Change | undefined {
  if (isTerminal(record.status)) return undefined;
  const refused = record.status === 'working' ? undefined : unaskable(record);
  return refused ?? (now <= failVisibleAt(record) ? undefined : exceed(record));
}

/** The failure of a task that waits, if its client cannot be asked these questions, or its waits are not valid. */
export function unaskable(record: TaskRecord): Change | undefined {
  const problem = questionProblem(record);
  return problem && failAsSeen(record, problem, record.updatedAt);
}

/**
 * For writers: after the deadline (and, for a run, `limits.lateWrite`) the only allowed change is this failure. Any
 * other write could come after readers have seen the failure.
 */
export function overdue(record: TaskRecord, now: number): Change | undefined {
  const last = record.deadlineAt + (record.status === 'working' ? limits.lateWrite : 0);
  return isTerminal(record.status) || now <= last ? undefined : exceed(record);
}

function exceed(record: TaskRecord): Change {
  return record.status === 'input_required'
    ? failAsSeen(record, failure('NotAnswered'), record.deadlineAt)
    : failAsSeen(record, failure('NotFinished'), failVisibleAt(record));
}
