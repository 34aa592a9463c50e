import { limits } from './limits.ts';
import { questionProblem } from './questions/question-problem.ts';
import type { TaskRecord } from './record.ts';
import { after, type Change, failAsSeen, failVisibleAt, isTerminal } from './transitions.ts';

/**
 * The record as a reader must see it at this moment, whatever a crash left behind: gone once its ttl has passed
 * (E-28), failed once it has lapsed (docs/architecture.md, "Statuses and moves").
 */
export function asOf(record: TaskRecord, now: number): TaskRecord | undefined {
  if (now >= record.createdAt + record.ttl) return undefined;
  const change = lapse(record, now);
  return change === undefined ? record : after(record, change);
}

/**
 * How an unfinished task has failed without anybody writing so: its deadline has passed, or it asks what no client
 * could be asked. Readers see it at once, and the sweep writes the very same.
 */
export function lapse(record: TaskRecord, now: number): Change | undefined {
  if (isTerminal(record.status)) return undefined;
  const refused = record.status === 'input_required' ? unaskable(record) : undefined;
  return refused ?? (now <= failVisibleAt(record) ? undefined : exceed(record));
}

/** How a task that waits has failed because of what it asks. */
export function unaskable(record: TaskRecord): Change | undefined {
  const problem = questionProblem(record);
  return problem && failAsSeen(record, problem, record.updatedAt);
}

/**
 * How it has failed for whoever would still change it, who might be overtaken by readers otherwise: just as for them. Its
 * run may report a little later than the deadline, a client may not.
 */
export function overdue(record: TaskRecord, now: number): Change | undefined {
  const last = record.deadlineAt + (record.status === 'working' ? limits.lateWrite : 0);
  return isTerminal(record.status) || now <= last ? undefined : exceed(record);
}

function exceed(record: TaskRecord): Change {
  const waiting = record.status === 'input_required';
  const message = waiting ? 'No answer came before the deadline' : 'The tool did not finish in time';
  return failAsSeen(
    record,
    { code: -32603, message, data: { reason: 'DeadlineExceeded' } },
    waiting ? record.deadlineAt : failVisibleAt(record),
  );
}
