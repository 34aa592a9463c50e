import { taskKey } from '../../tasks/ids.ts';
import type { Method } from '../context.ts';
import { loadTask, view } from '../read/read.ts';
import { deliver } from './delivery.ts';

/** 2025-11-25 only: waits for the task, then returns what a call without a task would return (C-16 to C-19). */
export const tasksResult: Method = async (call, server) => {
  // A client that asks for one result in a loop is sent it from S3 each time.
  const key = taskKey(call.principal, call.params.taskId);
  if (key !== undefined) server.pollLimit.count(key);
  const record = await loadTask(call, server);
  server.pollLimit.setInterval(record, view(record, server).pollInterval);
  return deliver(call, record, 'result', server);
};
