import { overdue } from '../tasks/deadlines.ts';
import type { TaskRecord } from '../tasks/record.ts';
import { type Change, isTerminal, isWritten } from '../tasks/transitions/change.ts';
import { untilStopped } from '../tasks/transitions/run.ts';
import type { RunContext } from './ports.ts';
import { stopRun } from './stop.ts';

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
  const ended = isTerminal(seen.status)
    ? undefined
    : await context.store.apply(seen, untilStopped(seen, late ?? change, context.now()));
  const record = ended ?? (isTerminal(seen.status) ? seen : await again());
  const written = ended !== undefined || (!isTerminal(seen.status) && late === undefined && isWritten(record, change));
  // A task that waits has no run, but an answer may have come first and begun one.
  if (written && (seen.status === 'working' || record.round > seen.round)) await stopRun(record, seen, context);
  return { record, written, late: late !== undefined };
}
