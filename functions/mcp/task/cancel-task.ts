import { overdue } from '../../tasks/deadlines.ts';
import { listPartition, type Principal } from '../../tasks/ids.ts';
import { logEvent, logUnexpected } from '../../tasks/log.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { type Change, cancel, isTerminal } from '../../tasks/transitions.ts';
import type { ServerContext } from '../context.ts';
import { findTask } from './task-view.ts';

/**
 * Cancels the record, then stops the work (C-25, C-27, E-21). `won` is false for a task that had already ended.
 *
 * @param unheard the call that waits for the task gets no answer (B-15)
 */
export async function cancelTask(
  principal: Principal,
  taskId: unknown,
  server: ServerContext,
  unheard?: 'unheard',
): Promise<{ record: TaskRecord; won: boolean }> {
  const before = await findTask(principal, taskId, server);
  const now = server.now();
  const change = overdue(before, now) ?? withMark(cancel(now), unheard);
  const ended = isTerminal(before.status) ? undefined : await server.store.apply(before, change);
  const record = ended ?? (await findTask(principal, taskId, server));
  // Also if it was cancelled before: that request may have crashed right after its write.
  if (ended !== undefined || record.status === 'cancelled') await stopWork(record, server);
  if (ended !== undefined && record.owner === listPartition(principal)) {
    // Best effort: without it, the free slot is found a moment later.
    await server.store.slotFreed(record.owner, server.now()).catch((error: unknown) => {
      logUnexpected(error, 'open-task slots');
    });
  }
  // If the SDK retried a write whose answer was lost, the retry fails its own condition. An equal `updatedAt` shows
  // that.
  const own = ended !== undefined || (!isTerminal(before.status) && record.updatedAt === now);
  return { record, won: own && record.status === 'cancelled' };
}

const withMark = (change: Change, unheard?: 'unheard'): Change =>
  unheard ? { ...change, set: { ...change.set, unheard: true } } : change;

/** Whether the run of a task can be neither stopped nor found by its name. The tool may have had the other engine then. */
export const isExpress = ({ express, tool }: TaskRecord, server: ServerContext): boolean =>
  express === true || server.tools.get(tool)?.entry.engine === 'express';

/** Call it after a start: a cancel or a sweep before the start found no run to stop. Now there is one. */
export async function stopIfOver(record: TaskRecord, server: ServerContext): Promise<void> {
  if (isExpress(record, server)) return;
  const seen = await server.store.get(record);
  if (seen?.status === 'cancelled' || seen?.status === 'failed') await stopWork(record, server);
}

/** Best effort: the record has ended, so a run that continues cannot change it (docs/crash-table.md, row 15). */
export async function stopWork(record: TaskRecord, server: ServerContext): Promise<void> {
  const machine = server.tools.get(record.tool)?.entry.machine;
  if (machine === undefined || isExpress(record, server)) return;
  try {
    await server.workflow.stop(record, machine);
  } catch (error) {
    logEvent('stop_failed', { tool: record.tool, error: String((error as Error).name) });
  }
}
