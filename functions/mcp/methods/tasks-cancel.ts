import { end } from '../../engine/end.ts';
import { InvalidParams, Unavailable } from '../../tasks/errors.ts';
import { listPartition, type Principal } from '../../tasks/ids.ts';
import { limits } from '../../tasks/limits.ts';
import { logUnexpected } from '../../tasks/log.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { type Change, isTerminal } from '../../tasks/transitions/change.ts';
import { cancel } from '../../tasks/transitions/end.ts';
import { isFullOfEvents } from '../../tasks/transitions/event.ts';
import type { Method, ServerContext } from '../context.ts';
import type { Sender } from '../identity/session.ts';
import { requestName } from '../protocol/call-params.ts';
import { readTask, shown, view } from '../read/read.ts';

/** Both eras. For a task that has ended, 2025-11-25 gets an error, 2026-07-28 the same acknowledgement (C-26, X-14). */
export const tasksCancel: Method = async (call, server) => {
  const { principal, params, tasks } = call;
  await readTask(principal, params.taskId, server, { olderOnly: !tasks });
  const { record, won } = await cancelTask(principal, params.taskId, server);
  const seen = view(record, server);
  if (won || call.wire.cancelsEnded) return call.wire.taskCancelled(seen);
  const { status } = call.wire.task(seen) as { status: string };
  throw new InvalidParams(`Cannot cancel task: it is already ${status}`);
};

/**
 * Cancels a task of the caller: see `end`. `won` is false for a task that had already ended. Throws Unavailable.
 *
 * @param unheard the call that waits for the task gets no answer (B-15)
 */
export async function cancelTask(
  principal: Principal,
  taskId: unknown,
  server: ServerContext,
  unheard?: 'unheard',
): Promise<{ record: TaskRecord; won: boolean }> {
  const again = () => readTask(principal, taskId, server);
  const before = await again();
  const { record, written } = await end(before, withMark(cancel(server.now()), unheard), again, server);
  if (!isTerminal(record.status)) throw new Unavailable();
  if (written && record.owner === listPartition(principal)) {
    // Best effort: without it, the free slot is found a moment later.
    await server.store.slotFreed(record.owner, server.now()).catch((error: unknown) => {
      logUnexpected(error, 'open-task slots');
    });
  }
  return { record, won: written && record.status === 'cancelled' };
}

const withMark = (change: Change, unheard?: 'unheard'): Change =>
  unheard ? { ...change, set: { ...change.set, unheard: true } } : change;

/**
 * Stops the work of a plain call that still waits for its answer, and sends none (B-15). Searches the newest tasks of the caller
 * that may be open. Any other request is ignored: one that is unknown, that has its answer, or that cannot be cancelled, such as a
 * direct call of a tool and `tasks/result`.
 */
export async function cancelRequest(
  { principal, session }: Sender,
  requestId: unknown,
  server: ServerContext,
): Promise<void> {
  const owner = listPartition(principal);
  if (session === undefined || owner === undefined || requestId === undefined) return;
  // It reads as many tasks as a list does.
  await server.pollLimit.countList(principal, server);
  const name = requestName(session.key, requestId);
  const tasks = await server.store.getMany(await server.store.newestTaken(owner, limits.listPage));
  // A client that has started again may give its ids again. The records come in any order.
  const [newest] = tasks
    .filter((one) => one.call === name && waits(one, server))
    .toSorted((a, b) => b.createdAt - a.createdAt);
  if (newest !== undefined) await cancelTask(principal, newest.taskId, server, 'unheard');
}

/**
 * After the inline window, which begins again with each answer, the call has its answer, which names the task. A record with enough events
 * does not say when the last answer came: if that began its round, at its last change or, before a signal or a wait, earlier.
 */
function waits(record: TaskRecord, server: ServerContext): boolean {
  const { status, createdAt, updatedAt, round, reportsFrom, events } = shown(record);
  const isUnknown = isFullOfEvents(record) && round > 1 && reportsFrom === undefined;
  const answeredAt = isUnknown ? updatedAt : events.findLast(({ what }) => what === 'answered')?.at;
  const until = (answeredAt ?? createdAt) + server.manifest.inlineWindow;
  return status === 'input_required' || (status === 'working' && server.now() < until);
}
