import { createHash } from 'node:crypto';
import { listPartition } from '../../tasks/ids.ts';
import { limits } from '../../tasks/limits.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import type { Call, ServerContext } from '../context.ts';
import type { Session } from '../identity/session.ts';
import { cancelTask } from './cancel-task.ts';

/** A request of a session, as the record of its task names it. */
const nameOf = (session: string, id: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify([session, id]))
    .digest('base64url')
    .slice(0, 22);

/**
 * The name of a call that can be cancelled by `notifications/cancelled`: a plain one of a 2025-11-25 session. A call that asks for
 * a task is answered at once, and its task is cancelled by `tasks/cancel`.
 */
export function cancellable({ session, tasks, params, id }: Call): string | undefined {
  if (session === undefined || (tasks && params.task !== undefined)) return undefined;
  return nameOf(session, id);
}

/**
 * Stops the work of a plain call that still waits for its answer, and sends none (B-15). Looks for it among the newest tasks of
 * the caller. Any other request is ignored: one that is unknown, that has its answer, or that cannot be cancelled, such as a
 * direct call of a tool and `tasks/result`.
 */
export async function cancelRequest(
  { principal, session }: Pick<Call, 'principal'> & { readonly session: Session | undefined },
  requestId: unknown,
  server: ServerContext,
): Promise<void> {
  const owner = listPartition(principal);
  if (session === undefined || owner === undefined || requestId === undefined) return;
  // It reads as many tasks as a list does.
  server.pollLimit.countList(principal);
  const name = nameOf(session.key, requestId);
  const { tasks } = await server.store.list(owner, limits.listPage);
  const found = tasks.find(({ call }) => call === name);
  if (found !== undefined && waits(found, server)) await cancelTask(principal, found.taskId, server, 'unheard');
}

/** After the inline window its client has been told of the task, and the call has its answer. */
function waits({ status, createdAt, events = [] }: TaskRecord, server: ServerContext): boolean {
  const resumedAt = events.findLast(({ what }) => what === 'answered')?.at ?? createdAt;
  return (
    status === 'input_required' || (status === 'working' && server.now() < resumedAt + server.manifest.inlineWindow)
  );
}
