import { traitsOf } from '../tasks/engines.ts';
import { limits } from '../tasks/limits.ts';
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
 * again (docs/crash-table.md, row 15).
 *
 * @param before the record while it was working
 */
export async function stopRun(record: TaskRecord, before: TaskRecord, context: StopContext): Promise<void> {
  if (!traitsOf(record).canBeStopped) return;
  const isOver = await context.workflow.stop(record).then(
    () => true,
    ({ name }: Error) => {
      // There is none, or it may begin at any moment.
      if (name === NO_RUN) return context.now() > before.updatedAt + limits.startWithin;
      context.log('stop_failed', { tool: record.tool, error: name });
      return false;
    },
  );
  if (!isTerminal(record.status) || isOver === (record.due === undefined)) return;
  const change = isOver ? stopped : stopLater(record, context.now());
  await context.store.applyBlind(record, change).catch((error: unknown) => {
    context.log('unexpected_error', { where: 'stopping a run', ...errorFacts(error) });
  });
}

/** As `stopRun`, for the sweep: by now a run has begun, or none will. Throws what the stop throws. */
export async function stopLate(record: TaskRecord, { workflow }: Pick<StopContext, 'workflow'>): Promise<void> {
  if (!traitsOf(record).canBeStopped) return;
  await workflow.stop(record).catch((error: Error) => {
    if (error.name !== NO_RUN) throw error;
  });
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
  await stopRun(seen, record, context);
  return seen;
}
