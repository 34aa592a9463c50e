import type { TaskContext } from '../tasks/tool-contract.ts';
import type { Amount } from './host.ts';

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
  const { recordHost } = await import('./host.ts');
  return recordHost.progress(task, message, amount);
}
