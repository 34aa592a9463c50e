import type { TaskContext } from '../tasks/tool-contract.ts';
import type { Amount } from './run-context.ts';

/**
 * Reports the progress of a task: clients see `message` as its statusMessage. Writes once a second at most and drops
 * reports in between. False means that the task was cancelled, given up or superseded: stop. Without a task (a direct
 * call) it does nothing and returns true. For functions without `defineTool`.
 *
 * @example
 * if (!(await reportProgress(event.task, `${done} of 12 files`, { progress: done, total: 12 }))) return;
 */
export async function reportProgress(
  task: TaskContext | undefined,
  message: string,
  amount: Amount = {},
): Promise<boolean> {
  if (task === undefined) return true;
  const { runContext } = await import('./run-context.ts');
  return runContext.progress(task, message, amount);
}
