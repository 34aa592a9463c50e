import { traitsOf } from '../tasks/engines.ts';
import { TooManyStarts, Unavailable } from '../tasks/errors.ts';
import { failure } from '../tasks/failures.ts';
import { limits } from '../tasks/limits.ts';
import { errorFacts } from '../tasks/log.ts';
import type { TaskRecord } from '../tasks/record.ts';
import { ResultStoreError } from '../tasks/results/result-store.ts';
import { roundInput } from '../tasks/round-input.ts';
import { InputLost } from '../tasks/s3/input-store.ts';
import { after, type Change, sameDueAt } from '../tasks/transitions/change.ts';
import { failAsSeen, keyExpired, withdraw } from '../tasks/transitions/end.ts';
import { awaitRun, startDue } from '../tasks/transitions/express.ts';
import { checkAgain, confirmStart, isSeen, untilStopped } from '../tasks/transitions/run.ts';
import type { EngineContext, RunContext } from './ports.ts';
import { stopIfOver, stopRun } from './stop.ts';

/**
 * The only place that starts runs. The record MUST be written before its run starts. A start whose answer was lost may be
 * repeated under its name. Where that is one more run (`idempotentStart`), only the writer of the round starts it, and
 * notes that it did (docs/crash-table.md, "On Express").
 */

/** In milliseconds. Before this age, no client can have found a task by tasks/list and cancelled it. */
const FOUND_AFTER = 250;

/** What starting the first round of a task resulted in. */
export type FirstStart =
  | { readonly start: 'started' }
  /** Too late: the sweep may be failing the task as never started (row 4). */
  | { readonly start: 'late' }
  /** Another run has its name. `failed`: this task is failed for that. */
  | { readonly start: 'taken'; readonly failed: boolean }
  /** The task had ended before its run began. The run is stopped. */
  | { readonly start: 'over'; readonly seen: TaskRecord }
  /** `failed`: the task is failed for that, and its run is stopped, if it began. */
  | { readonly start: 'failed'; readonly error: unknown; readonly failed: boolean };

/**
 * Starts the first round of a task whose record was just stored.
 *
 * @param input of the run: `roundInput`
 */
export async function startFirst(record: TaskRecord, input: string, context: RunContext): Promise<FirstStart> {
  const now = context.now();
  // A run that starts after the deadline cannot succeed.
  if (now > record.createdAt + limits.startWithin || now >= record.deadlineAt) return { start: 'late' };
  try {
    const outcome = await context.workflow.start(record, input);
    if (outcome === 'taken') return await nameTaken(record, context);
  } catch (error) {
    context.log('start_failed', { tool: record.tool, error: (error as Error).name });
    return settleFailedStart(record, error, context);
  }
  return overBefore(record, context);
}

/** A task without a key has a name that is never taken, but a rerun's name can be. */
async function nameTaken(record: TaskRecord, context: RunContext): Promise<FirstStart> {
  if (record.digest === undefined && record.rerunOf === undefined) return overBefore(record, context);
  const change =
    record.digest === undefined
      ? failAsSeen(record, failure('NotStarted'), context.now())
      : keyExpired(record, context.now());
  // If the record has changed, the name is this run's: it ended before the answer to its start arrived.
  const failed = (await context.store.apply(record, change)) !== undefined;
  return failed ? { start: 'taken', failed } : { start: 'started' };
}

async function overBefore(record: TaskRecord, context: RunContext): Promise<FirstStart> {
  const named = record.digest !== undefined || record.rerunOf !== undefined;
  // Before its answer, the client can cancel the task only by its key, or after it has found the task in a list.
  if (!named && context.now() - record.createdAt <= FOUND_AFTER) return { start: 'started' };
  const seen = await stopIfOver(record, context).catch((error: unknown) => {
    logUnexpected(error, 'over before its start', context);
  });
  // If the run wrote the end itself, its event has the time at which the run started.
  const ran = seen?.events.some(({ startedAt }) => startedAt !== undefined) ?? true;
  return seen === undefined || ran ? { start: 'started' } : { start: 'over', seen };
}

/** Leaves no task behind that could run later, where its client calls again. */
async function settleFailedStart(record: TaskRecord, error: unknown, context: RunContext): Promise<FirstStart> {
  const refused = error instanceof TooManyStarts && error.certain;
  const now = context.now();
  if (record.digest === undefined && record.rerunOf === undefined && refused) {
    const withdrawn = await context.store.apply(record, withdraw(record, now)).catch((failed: unknown) => {
      logUnexpected(failed, 'withdrawing a task', context);
    });
    return { start: 'failed', error, failed: withdrawn !== undefined };
  }
  if (!traitsOf(record).idempotentStart && refused) await note(startDue(record, now), record, context);
  // Under a key, a repeat may have started the task already, or may still start it. If none does, the sweep fails it.
  if (record.digest !== undefined) return { start: 'failed', error, failed: false };
  // Perhaps it runs, and only the answer was lost: fail the record, so that the run cannot change it, then stop the run
  // (docs/crash-table.md, rows 2 and 3).
  const seen = await failNotStarted(record, context);
  // Not known: the sweep ends it. A stop could end work that its client waits for.
  if (seen === 'unknown') return { start: 'failed', error, failed: false };
  // The tool ran, and only the answer was lost: an error would make the client run it twice.
  if (seen !== 'gone' && seen.status !== 'cancelled' && seen.failure !== 'NotStarted') return { start: 'started' };
  await stopRun(seen === 'gone' ? record : seen, context);
  return { start: 'failed', error, failed: seen !== 'gone' && seen.failure === 'NotStarted' };
}

/** The record after that, or as another writer has left it. */
async function failNotStarted(record: TaskRecord, context: RunContext): Promise<TaskRecord | 'gone' | 'unknown'> {
  const now = context.now();
  const change = untilStopped(record, failAsSeen(record, failure('NotStarted'), now), now);
  try {
    return (await context.store.apply(record, change)) ?? (await context.store.get(record)) ?? 'gone';
  } catch (error) {
    logUnexpected(error, 'failing a task', context);
    return 'unknown';
  }
}

/**
 * Starts the first round for a call that repeats another one: that one may have crashed before the start. Does nothing where
 * that could be one more run: the sweep starts the round. If it fails, the record stays: the first call may have started the
 * round. Throws what the start throws.
 */
export async function repeatFirst(record: TaskRecord, input: string, context: RunContext): Promise<void> {
  const now = context.now();
  if (now > record.createdAt + limits.startWithin || now >= record.deadlineAt) return;
  if (isSeen(record) || !traitsOf(record).idempotentStart) return;
  await context.workflow.start(record, input);
  // Each start counts against a quota of the account: after this note, further repeats start nothing.
  await note(confirmStart(record, context.now()), record, context);
  await overBefore(record, context);
}

/**
 * `gone`: nothing to start, as this server no longer has the tool. `taken`: as of `Workflow.start`. The sweep sees whether that is a
 * run of this round, which has ended, or of an older task.
 */
export type Start = 'started' | 'taken' | 'gone';

type StartContext = Pick<EngineContext, 'toolEngine' | 'workflow' | 'inputs'>;

/** What a start needs that follows its write. */
export type ClaimContext = StartContext &
  Pick<EngineContext, 'now'> & { readonly store: Pick<RunContext['store'], 'applyBlind'> };

/** Starts the current round once more, from what is stored. Throws InputLost, ResultStoreError. */
export async function startAgain(record: TaskRecord, context: StartContext): Promise<Start> {
  const start = await storedStart(record, context);
  return start === undefined ? 'gone' : ((await start()) ?? 'started');
}

/** A function that starts the current round from the record. Undefined: the record has no arguments, or the server not the tool. */
async function storedStart(record: TaskRecord, { toolEngine, workflow, inputs }: StartContext) {
  if (toolEngine(record.tool) === undefined) return undefined;
  const whole = await inputs.whole(record);
  const args = whole.arguments;
  // The same each time: a signal may move the arguments to S3 while the round runs.
  const input = args === undefined ? undefined : roundInput(whole, args, false);
  return input === undefined ? undefined : () => workflow.start(record, input);
}

/**
 * Starts the round that the last answer began. Where a start is not idempotent, only the request that wrote that answer
 * may call it. Throws Unavailable, and what the start throws: a poll or the sweep then starts the round.
 */
export async function startNext(record: TaskRecord, context: RunContext): Promise<Start> {
  const start = await startAgain(record, context).catch(async (error: unknown) => {
    if (!traitsOf(record).idempotentStart && error instanceof TooManyStarts && error.certain) {
      await note(startDue(record, context.now()), record, context);
    }
    // The answer is stored. The sweep fails the task if its input is lost and no run exists.
    if (!(error instanceof InputLost) && !(error instanceof ResultStoreError)) throw error;
    logUnexpected(error, 'starting a round', context);
    throw new Unavailable(error);
  });
  if (start !== 'started') return start;
  if (!traitsOf(record).idempotentStart) await note(awaitRun(record, context.now()), record, context);
  await stopIfOver(record, context);
  return start;
}

/** Best effort: without this note the sweep starts the round again at its first check. */
async function note(change: Change, record: TaskRecord, context: RunContext): Promise<void> {
  await context.store.applyBlind(record, change).catch((error: unknown) => {
    logUnexpected(error, 'noting a start', context);
  });
}

/**
 * Starts a round after `change` is written, and only if that write won: each start is one more run. A crash between write
 * and start costs the time of one run. So does a start without an answer: its run may have begun. One that was surely
 * refused is tried again a minute later. Throws what the start throws.
 *
 * @returns `lost`: another writer came first
 */
export async function claimRound(
  record: TaskRecord,
  change: Change,
  context: ClaimContext,
): Promise<'started' | 'lost' | 'gone'> {
  const { store, now } = context;
  const claimed = after(record, change);
  const start = await storedStart(claimed, context);
  if (start === undefined) return 'gone';
  if (!(await store.applyBlind(record, change))) return 'lost';
  try {
    await start();
  } catch (error) {
    if (error instanceof TooManyStarts && error.certain) {
      await store.applyBlind(claimed, { ...checkAgain(claimed, now()), ...sameDueAt(claimed) }).catch(() => undefined);
    }
    throw error;
  }
  return 'started';
}

function logUnexpected(error: unknown, where: string, { log }: Pick<EngineContext, 'log'>): void {
  log('unexpected_error', { where, ...errorFacts(error) });
}
