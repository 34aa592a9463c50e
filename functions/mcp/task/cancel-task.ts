import { overdue } from '../../tasks/deadlines.ts';
import { listPartition, type Principal } from '../../tasks/ids.ts';
import { logUnexpected } from '../../tasks/log.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { cancel, isTerminal } from '../../tasks/transitions.ts';
import type { Server } from '../context.ts';
import { findTask } from './task-view.ts';

/** Fences the record, then tells the work to stop (C-25, C-27, E-21). `won` is false for a task that was over already. */
export async function cancelTask(
  principal: Principal,
  taskId: unknown,
  server: Server,
): Promise<{ record: TaskRecord; won: boolean }> {
  const before = await findTask(principal, taskId, server);
  const now = server.now();
  const change = overdue(before, now) ?? cancel(now);
  const ended = isTerminal(before.status) ? undefined : await server.store.apply(before, change);
  const record = ended ?? (await findTask(principal, taskId, server));
  // Also when it was cancelled before: that request may have died right after its write.
  if (ended !== undefined || record.status === 'cancelled') await stopWork(record, server);
  if (ended !== undefined && record.owner === listPartition(principal)) {
    // Best effort: without it the slot is found a moment later.
    await server.store.slotFreed(record.owner, server.now()).catch((error: unknown) => {
      logUnexpected(error, 'open-task slots');
    });
  }
  // A write that had to be repeated, its answer lost, has lost to itself.
  const own = ended !== undefined || (!isTerminal(before.status) && record.updatedAt === now);
  return { record, won: own && record.status === 'cancelled' };
}

/**
 * For whoever has started a run: a cancel that came before found none to stop, or a sweep has failed the task because
 * there was none, and there is one now.
 */
export async function stopIfOver(record: TaskRecord, server: Server): Promise<void> {
  const seen = await server.store.get(record);
  if (seen?.status === 'cancelled' || seen?.status === 'failed') await stopWork(record, server);
}

/** Best effort: the record is fenced, so a run that goes on can no longer change it (docs/crash-table.md, row 15). */
export async function stopWork(record: TaskRecord, server: Server): Promise<void> {
  const machine = server.tools.get(record.tool)?.entry.machine;
  if (machine === undefined) return;
  try {
    await server.workflow.stop(record, machine);
  } catch (error) {
    console.error(JSON.stringify({ event: 'stop_failed', tool: record.tool, error: String((error as Error).name) }));
  }
}
