import { traitsOf } from '../tasks/engines.ts';
import type { TaskRecord } from '../tasks/record.ts';
import type { EngineContext, RunContext } from './ports.ts';

/**
 * Stops the run of a task that has ended: the only place that does. The record MUST have ended first, so that a run that
 * goes on can change nothing (docs/crash-table.md, row 15). Best effort for the same reason.
 */
export async function stopRun(record: TaskRecord, context: Pick<EngineContext, 'workflow' | 'log'>): Promise<void> {
  if (!traitsOf(record).canBeStopped) return;
  try {
    await context.workflow.stop(record);
  } catch (error) {
    const { name } = error as Error;
    // It had not begun, or is gone.
    if (name !== 'ExecutionDoesNotExist') context.log('stop_failed', { tool: record.tool, error: name });
  }
}

/**
 * Call it after a start: a cancel or a sweep before the start found no run to stop. Now there is one. Best effort.
 *
 * @returns the record if it had ended
 */
export async function stopIfOver(record: TaskRecord, context: RunContext): Promise<TaskRecord | undefined> {
  if (!traitsOf(record).canBeStopped) return undefined;
  const seen = await context.store.get(record);
  if (seen?.status !== 'cancelled' && seen?.status !== 'failed') return undefined;
  await stopRun(record, context);
  return seen;
}
