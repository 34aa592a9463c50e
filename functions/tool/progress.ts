import type { TaskContext } from '../tasks/tool-contract.ts';
import type { Amount } from './run-context.ts';

/**
 * Shows how far a task is: clients see `message` as its statusMessage. At most one write a second; reports in between
 * are dropped. False means that the task is no longer this run's to work on (cancelled, given up or superseded):
 * stop. Without a task (a direct call) it does nothing and returns true. For functions without `defineTool`.
 */
export async function reportProgress(
  task: TaskContext | undefined,
  message: string,
  amount: Amount = {},
): Promise<boolean> {
  if (task === undefined) return true;
  const { taskRunContext } = await import('./run-context.ts');
  return taskRunContext.progress(task, message, amount);
}
