import type { Method } from '../context.ts';
import { loadTask } from '../task/task-view.ts';
import { deliver } from './delivery.ts';

/** 2025-11-25 only: waits for the task, then returns what a call without a task would return (C-16 to C-19). */
export const tasksResult: Method = async (call, server) =>
  deliver(call, await loadTask(call, server), 'result', server);
