import { signal } from '../../engine/signal.ts';
import { InternalError, TaskNotFound } from '../../tasks/errors.ts';
import type { Principal } from '../../tasks/ids.ts';
import { logIgnored } from '../../tasks/log.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import type { Method, ServerContext } from '../context.ts';
import { responsesIn } from '../protocol/call-params.ts';
import { type Needs, readTask } from '../read/read.ts';

/** 2026-07-28 only: takes answers to open questions. All other keys are ignored (E-17 to E-19). */
export const tasksUpdate: Method = async (call, server) => {
  const { inputResponses, taskId } = call.params;
  await answerTask(call.principal, taskId, responsesIn(inputResponses), 'refuse', server);
  return call.wire.result({});
};

/**
 * Stores a client's answers to a task's open questions: see `signal`. Throws InvalidParams for a task that this client may
 * not see.
 *
 * @param responses answers by wire key
 * @param invalid `refuse`: an invalid answer throws InvalidParams. `leave`: it is left out, and its question stays open
 * @param needs what its caller reads of the task
 */
export async function answerTask(
  principal: Principal,
  taskId: unknown,
  responses: Readonly<Record<string, unknown>>,
  invalid: 'refuse' | 'leave',
  server: ServerContext,
  needs: Needs = {},
): Promise<TaskRecord> {
  const read = () => readTask(principal, taskId, server, needs);
  const answering = { read, responses: () => responses, invalid, ignored: logIgnored, sleep: server.sleep };
  const signalled = await signal(answering, server);
  if (signalled === undefined) throw new TaskNotFound();
  const start = 'start' in signalled ? signalled.start : undefined;
  if (start === 'gone') throw new InternalError('The tool of this task is gone');
  if (typeof start === 'object') throw start.error;
  return signalled.record;
}
