import { overdue } from '../tasks/deadlines.ts';
import type { TaskRecord } from '../tasks/record.ts';
import { type Change, isTerminal, isWritten } from '../tasks/transitions/change.ts';
import { untilStopped } from '../tasks/transitions/run.ts';
import type { RunContext } from './ports.ts';
import { stopRun } from './stop.ts';

/** What ending a task resulted in. It may go on, if it has moved on before each write. */
export interface Ended {
  /** As it is now. */
  readonly record: TaskRecord;
  /** Whether this act has written it. */
  readonly written: boolean;
  /** Its deadline had passed: it failed by that. */
  readonly late: boolean;
  /** Its run goes on until the sweep has stopped it, or to its end on an engine that cannot stop one. */
  readonly runs: boolean;
}

/** A task that moves on between each read and write is rare: a round begins, or asks. */
const ATTEMPTS = 5;

/**
 * Ends a task, then stops its run (C-25, C-27, E-21). The record MUST be written first: see `stopRun`. The write requires the
 * status and the round that were read: what they were says whether there is a run to stop. After its deadline the only change
 * is the failure that every reader is about to see.
 *
 * @param first the record as its caller sees it
 * @param again reads it so once more, after another writer came first
 */
export async function end(
  first: TaskRecord,
  change: Change,
  again: () => Promise<TaskRecord>,
  context: RunContext,
): Promise<Ended> {
  let seen = first;
  for (let attempt = 0; attempt < ATTEMPTS && !isTerminal(seen.status); attempt++) {
    const now = context.now();
    const late = overdue(seen, now);
    const asSeen = { ...(late ?? change), from: [seen.status], round: seen.round };
    const ended = await context.store.apply(seen, untilStopped(seen, asSeen, now));
    const record = ended ?? (await again());
    // Also if only the answer of the write was lost.
    if (ended !== undefined || (late === undefined && isWritten(record, asSeen))) {
      const runs = seen.status === 'working' && !(await stopRun(record, context));
      return { record, written: true, late: late !== undefined, runs };
    }
    seen = record;
  }
  return { record: seen, written: false, late: false, runs: false };
}
