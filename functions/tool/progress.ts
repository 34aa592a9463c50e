import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { limits } from '../tasks/limits.ts';
import { type TaskStore, taskStore } from '../tasks/store.ts';
import { progress } from '../tasks/transitions.ts';
import type { TaskContext } from './contract.ts';

const INTERVAL = 1_000;
const stores = new Map<string, TaskStore>();
/** The task of this container's current run, and when it last wrote. */
let last: { run: string; at: number } | undefined;

/**
 * Shows how far a task is: clients see `message` as its statusMessage. At most one write a second; reports in between
 * are dropped. False means that the task is no longer this run's to work on (cancelled, given up or superseded):
 * stop. Without a task (a direct call) it does nothing and returns true.
 */
export async function reportProgress(
  task: TaskContext | undefined,
  message: string,
  amount: { readonly progress?: number; readonly total?: number } = {},
): Promise<boolean> {
  if (task === undefined) return true;
  const run = `${task.taskId} ${task.round} ${task.attempt}`;
  const now = Date.now();
  if (last?.run === run && now - last.at < INTERVAL) return true;
  last = { run, at: now };
  const report = { message: message.slice(0, limits.statusMessage), ...amount };
  try {
    return await storeOf(task.table).applyBlind(task, progress(task.round, report, now));
  } catch (error) {
    // A report that is lost is no reason to stop the work.
    console.error(
      JSON.stringify({ event: 'progress_failed', error: error instanceof Error ? error.name : String(error) }),
    );
    return true;
  }
}

function storeOf(table: string): TaskStore {
  const store = stores.get(table) ?? taskStore(DynamoDBDocumentClient.from(new DynamoDBClient({})), table);
  stores.set(table, store);
  return store;
}
