import { traitsOf } from '../tasks/engines.ts';
import { errorFacts } from '../tasks/log.ts';
import type { TaskRecord } from '../tasks/record.ts';
import { isTerminal } from '../tasks/transitions/change.ts';
import { stopLater, stopped } from '../tasks/transitions/run.ts';
import type { RunContext } from './ports.ts';

type StopContext = Pick<RunContext, 'workflow' | 'log' | 'now'> & {
  readonly store: Pick<RunContext['store'], 'applyBlind'>;
};

/**
 * Stops the run of a task that has ended: the only place that does. The record MUST have ended first, so that a run that
 * goes on can change nothing. Best effort: until Step Functions has accepted the stop, the record is due, and the sweep tries
 * again (docs/crash-table.md, row 15). So it is if there is no run: one may begin at any moment, or has begun a moment ago.
 *
 * @returns whether the stop was accepted
 */
export async function stopRun(record: TaskRecord, context: StopContext): Promise<boolean> {
  if (!traitsOf(record).canBeStopped) return false;
  const accepted = await context.workflow.stop(record).then(
    () => true,
    ({ name }: Error) => {
      if (name !== NO_RUN) context.log('stop_failed', { tool: record.tool, error: name });
      return false;
    },
  );
  // The end of one that is not read again may have left out what is due.
  const isDue = isTerminal(record.status) && record.due !== undefined;
  if (accepted !== isDue) return accepted;
  const change = accepted ? stopped : stopLater(record, context.now());
  await context.store.applyBlind(record, change).catch((error: unknown) => {
    context.log('unexpected_error', { where: 'stopping a run', ...errorFacts(error) });
  });
  return accepted;
}

/**
 * As `stopRun`, for the sweep: by now a run has begun, or none will. No page of AWS says what a stop of a run comes to that
 * has ended, so after an error the run itself decides. Returns false if Step Functions has no room for one more stop.
 * Throws what else the stop throws.
 */
export async function stopLate(
  record: TaskRecord,
  isRunning: () => Promise<boolean>,
  { workflow }: Pick<StopContext, 'workflow'>,
): Promise<boolean> {
  if (!traitsOf(record).canBeStopped) return true;
  try {
    await workflow.stop(record);
  } catch (error) {
    const { name } = error as Error;
    if (name === 'ThrottlingException') return false;
    if (name !== NO_RUN && (await isRunning())) throw error;
  }
  return true;
}

/** The error of a stop when there is no such execution. */
const NO_RUN = 'ExecutionDoesNotExist';

/**
 * Call it after a start: a cancel or a sweep before the start found no run to stop. Now there is one. Best effort.
 *
 * @returns the record if it had ended
 */
export async function stopIfOver(record: TaskRecord, context: RunContext): Promise<TaskRecord | undefined> {
  if (!traitsOf(record).canBeStopped) return undefined;
  const seen = await context.store.get(record);
  if (seen?.status !== 'cancelled' && seen?.status !== 'failed') return undefined;
  await stopRun(seen, context);
  return seen;
}
