import type { Method } from '../context.ts';
import { countLarge, readTask } from '../read/read.ts';
import { deliver } from './delivery.ts';

/** 2025-11-25 only: waits for the task, then returns what a call without a task would return (C-16 to C-19). */
export const tasksResult: Method = async (call, server) => {
  // Polled: a client that asks for one result in a loop is sent it from S3 each time.
  const record = await readTask(call.principal, call.params.taskId, server, { polled: true });
  await countLarge(call.principal, record, server);
  return deliver(call, record, 'result', server);
};
