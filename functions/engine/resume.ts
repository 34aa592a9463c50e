import { asOf, overdue } from '../tasks/deadlines.ts';
import { engineOf, traitsOf } from '../tasks/engines.ts';
import { limits } from '../tasks/limits.ts';
import type { TaskRecord } from '../tasks/record.ts';
import { isLarge, moved } from '../tasks/s3/moved-input.ts';
import { withInputApart } from '../tasks/transitions/answers.ts';
import { after } from '../tasks/transitions/change.ts';
import { confirmStart, isSeen } from '../tasks/transitions/run.ts';
import { resume } from '../tasks/transitions/waits.ts';
import { isOver } from '../tasks/waits/waits.ts';
import type { RunContext } from './ports.ts';
import { storeInput } from './read.ts';
import { type ClaimContext, claimRound, startAgain } from './start-round.ts';
import { stopRun } from './stop.ts';

/**
 * What resuming a task that waits resulted in. `waits`: none of its waits is over, or its deadline has passed. Others: as of
 * `claimRound`.
 */
export type Resumed = 'waits' | Awaited<ReturnType<typeof claimRound>>;

/**
 * Begins the next round of a task that waits, once the first of its waits is over. The reader of the table's stream, a poll and
 * the sweep may do so at the same time: the first write wins, and its writer starts the run (docs/crash-table.md, row 24).
 * Throws InputLost, ResultStoreError, Unavailable, and what the start throws: then the round has begun, and the sweep starts its run.
 */
export async function resumeRound(
  record: TaskRecord,
  context: ClaimContext & Pick<RunContext, 'log'>,
): Promise<Resumed> {
  const now = context.now();
  if (record.status !== 'waiting' || !isOver(record, now) || overdue(record, now) !== undefined) return 'waits';
  const resumed = (as: TaskRecord) => resume(as, context.toolEngine(as.tool) ?? engineOf(as), now);
  const change = resumed(record);
  if (!isLarge(after(record, change))) return claimRound(record, change, context);
  // Waits whose time is over count as answers: many of them would make the record large.
  const whole = await context.inputs.whole(record);
  const stored = moved(after(whole, resumed(whole)));
  await storeInput(stored.record, stored.text, context);
  return claimRound(record, withInputApart(change, stored.record), context);
}

/**
 * Called on reads. If the request that answered a task crashed before its start, this starts the round now
 * (docs/crash-table.md, row 16), as it does for a task whose wait is over (row 24). Errors are only logged: the sweep
 * tries again. Of many tasks it starts `limits.restarts`, as
 * each start is also a write. The sweep starts the others.
 */
export async function startIfCrashed(records: readonly TaskRecord[], context: RunContext): Promise<void> {
  const crashed = records.filter((record) => mayHaveCrashed(record, context));
  await Promise.all(crashed.slice(0, limits.restarts).map((record) => startCrashed(record, context)));
}

function mayHaveCrashed(record: TaskRecord, context: RunContext): boolean {
  const { round, updatedAt, deadlineAt } = record;
  const now = context.now();
  const isYoung = now - updatedAt < limits.restartAfter;
  // Before that, the reader of the stream is about to do so.
  if (record.status === 'waiting') return isOver(record, now - limits.restartAfter) && !isYoung;
  // A second start would run beside the first one. The sweep starts a round without a note of its start.
  if (!traitsOf(record).idempotentStart) return false;
  if (round === 1 || isSeen(record) || isYoung || now >= deadlineAt) return false;
  return asOf(record, now)?.status === 'working';
}

async function startCrashed(record: TaskRecord, context: RunContext): Promise<void> {
  const now = context.now();
  try {
    if (record.status === 'waiting') return void (await resumeRound(record, context));
    // If the execution exists but has ended, the sweep handles it.
    if ((await startAgain(record, context)) !== 'started') return;
    // The task has changed meanwhile, perhaps by a cancel that found no run to stop. Now there is one.
    if (!(await context.store.applyBlind(record, confirmStart(record, now)))) await stopRun(record, context);
  } catch (error) {
    context.log('restart_failed', { tool: record.tool, error: (error as Error).name });
  }
}
