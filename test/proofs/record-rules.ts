import type { TaskRecord } from '../../functions/tasks/record.ts';
import { canMove, isTerminal } from '../../functions/tasks/transitions/change.ts';

type Moving = Pick<TaskRecord, 'status' | 'round'>;

/** The rule that a write of a task's record breaks; undefined if it breaks none. For random faults and for the model. */
export function brokenMove(before: Moving, after: Moving): string | undefined {
  if (isTerminal(before.status)) return 'A task that has ended is never written again';
  if (before.status !== after.status && !canMove(before.status, after.status)) {
    return 'A status moves as the protocol says';
  }
  const begins = ['input_required', 'waiting'].includes(before.status) && after.status === 'working';
  return after.round === before.round + (begins ? 1 : 0)
    ? undefined
    : 'A round begins when what the last one asks, or waits for, has come';
}

/** Why a task is not settled after every repair has run; undefined if it is. */
export function unsettled({ status, due, dueAt }: TaskRecord): string | undefined {
  if (!isTerminal(status)) return `is still ${status}`;
  return due !== undefined || dueAt !== undefined ? 'is still in the index' : undefined;
}
