import { end } from '../../engine/end.ts';
import { listPartition, type Principal } from '../../tasks/ids.ts';
import { logUnexpected } from '../../tasks/log.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { type Change, isTerminal } from '../../tasks/transitions/change.ts';
import { cancel } from '../../tasks/transitions/end.ts';
import type { ServerContext } from '../context.ts';
import { findTask } from '../read/read.ts';

/**
 * Cancels a task of the caller: see `end`. `won` is false for a task that had already ended.
 *
 * @param unheard the call that waits for the task gets no answer (B-15)
 */
export async function cancelTask(
  principal: Principal,
  taskId: unknown,
  server: ServerContext,
  unheard?: 'unheard',
): Promise<{ record: TaskRecord; won: boolean }> {
  const again = () => findTask(principal, taskId, server);
  const before = await again();
  const now = server.now();
  const { record, written } = await end(before, withMark(cancel(now), unheard), again, server);
  if (written && record.owner === listPartition(principal)) {
    // Best effort: without it, the free slot is found a moment later.
    await server.store.slotFreed(record.owner, server.now()).catch((error: unknown) => {
      logUnexpected(error, 'open-task slots');
    });
  }
  // If the SDK retried a write whose answer was lost, the retry fails its own condition. An equal `updatedAt` shows
  // that.
  const own = written || (!isTerminal(before.status) && record.updatedAt === now);
  return { record, won: own && record.status === 'cancelled' };
}

const withMark = (change: Change, unheard?: 'unheard'): Change =>
  unheard ? { ...change, set: { ...change.set, unheard: true } } : change;
