import { signal } from '../../engine/signal.ts';
import { InternalError, TaskNotFound } from '../../tasks/errors.ts';
import type { Principal } from '../../tasks/ids.ts';
import { logIgnored } from '../../tasks/log.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import type { ServerContext } from '../context.ts';
import { findTask } from '../read/read.ts';

/**
 * Stores a client's answers to a task's open questions: see `signal`. Throws InvalidParams for a task that this client may
 * not see.
 *
 * @param responses answers by wire key
 * @param invalid `refuse`: an invalid answer throws InvalidParams. `leave`: it is left out, and its question stays open
 */
export async function answerTask(
  principal: Principal,
  taskId: unknown,
  responses: Readonly<Record<string, unknown>>,
  invalid: 'refuse' | 'leave',
  server: ServerContext,
): Promise<TaskRecord> {
  const read = () => findTask(principal, taskId, server);
  const answering = { read, responses: () => responses, invalid, ignored: logIgnored, sleep: server.sleep };
  const signalled = await signal(answering, server);
  if (signalled === undefined) throw new TaskNotFound();
  const start = 'start' in signalled ? signalled.start : undefined;
  if (start === 'gone') throw new InternalError('The tool of this task is gone');
  if (typeof start === 'object') throw start.error;
  return signalled.record;
}
