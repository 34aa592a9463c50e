import type { TaskRecord } from '../tasks/record.ts';
import type { EngineContext, RunContext } from './ports.ts';

/**
 * Whether the run of a task can be neither stopped nor found by its name. The tool may have had the other engine then.
 *
 * @param now the tool of the task, as it is registered now
 */
export const isExpress = (
  { express }: Pick<TaskRecord, 'express'>,
  now: { readonly express?: boolean } | undefined,
): boolean => express === true || now?.express === true;

/**
 * Stops the run of a task that has ended: the only place that does. The record MUST have ended first, so that a run that
 * goes on can change nothing (docs/crash-table.md, row 15). Best effort for the same reason.
 */
export async function stopRun(
  record: TaskRecord,
  context: Pick<EngineContext, 'machineOf' | 'workflow' | 'log'>,
): Promise<void> {
  const machine = context.machineOf(record.tool);
  if (machine === undefined || isExpress(record, machine)) return;
  try {
    await context.workflow.stop(record, machine.id);
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
  if (isExpress(record, context.machineOf(record.tool))) return undefined;
  const seen = await context.store.get(record);
  if (seen?.status !== 'cancelled' && seen?.status !== 'failed') return undefined;
  await stopRun(record, context);
  return seen;
}
