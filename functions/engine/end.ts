import { setBounded } from '../tasks/bounded-map.ts';
import { overdue } from '../tasks/deadlines.ts';
import type { TaskRecord } from '../tasks/record.ts';
import { type Change, isTerminal, isWritten } from '../tasks/transitions/change.ts';
import type { RunContext } from './ports.ts';
import { stopRun } from './stop.ts';

/**
 * How long after a cancel a repeated cancel stops the run once more, once in each container. In ms. Each stop counts against a
 * quota of the account.
 */
const STOP_AGAIN = 60_000;

/** Tasks whose run this container has stopped once more. */
const stoppedAgain = new Map<string, true>();
const REMEMBERED = 1_000;

/** What ending a task resulted in. */
export interface Ended {
  /** As it is now. */
  readonly record: TaskRecord;
  /** Whether this act has written it. */
  readonly written: boolean;
  /** Its deadline had passed: it failed by that. */
  readonly late: boolean;
}

/**
 * Ends a task, then stops its run (C-25, C-27, E-21). The record MUST be written first: see `stopRun`. After its deadline
 * the only change is the failure that every reader is about to see.
 *
 * @param seen the record as its caller sees it
 * @param again reads it so once more, after another writer came first
 */
export async function end(
  seen: TaskRecord,
  change: Change,
  again: () => Promise<TaskRecord>,
  context: RunContext,
): Promise<Ended> {
  const late = overdue(seen, context.now());
  const ended = isTerminal(seen.status) ? undefined : await context.store.apply(seen, late ?? change);
  const record = ended ?? (isTerminal(seen.status) ? seen : await again());
  const written = ended !== undefined || (!isTerminal(seen.status) && late === undefined && isWritten(record, change));
  // Also if it was cancelled a moment before: who did that may have crashed right after the write.
  const repeated = record.status === 'cancelled' && context.now() - record.updatedAt < STOP_AGAIN;
  if (written || (repeated && !stoppedAgain.has(record.taskId))) await stopRun(record, context);
  if (repeated) setBounded(stoppedAgain, record.taskId, true, REMEMBERED);
  return { record, written, late: late !== undefined };
}
