import { InvalidParams } from '../../tasks/errors.ts';
import type { Method } from '../context.ts';
import { loadTask, view } from '../read/read.ts';
import { cancelTask } from '../task/cancel-task.ts';

/** Both eras. For a task that has ended, 2025-11-25 gets an error, 2026-07-28 the same acknowledgement (C-26, X-14). */
export const tasksCancel: Method = async (call, server) => {
  await loadTask(call, server);
  const { record, won } = await cancelTask(call.principal, call.params.taskId, server);
  const shown = view(record, server);
  if (won || call.wire.cancelsEnded) return call.wire.taskCancelled(shown);
  const { status } = call.wire.task(shown) as { status: string };
  throw new InvalidParams(`Cannot cancel task: it is already ${status}`);
};
