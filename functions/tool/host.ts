import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { storeIfLarge } from '../tasks/large-result.ts';
import { limits } from '../tasks/limits.ts';
import { type RunStore, runStore } from '../tasks/store.ts';
import { progress, remember } from '../tasks/transitions.ts';
import type { TaskContext } from './contract.ts';
import { ToolError } from './errors.ts';

/** What a run needs of the world around it. Each answer false means: the task is no longer this run's to work on. */
export interface Host {
  /** At most one report a second is written; those in between are dropped. */
  progress(task: TaskContext, message: string, amount: Amount): Promise<boolean>;
  alive(task: TaskContext): Promise<boolean>;
  /** Keeps JSON text for the next attempt at this round. */
  remember(task: TaskContext, memory: string): Promise<boolean>;
  recall(task: TaskContext): Promise<string | undefined>;
  /** A result as the workflow can carry it: what is large goes to S3, and a reference takes its place. */
  keep(task: TaskContext, result: unknown): Promise<unknown>;
}

export interface Amount {
  readonly progress?: number;
  readonly total?: number;
}

const stores = new Map<string, RunStore>();
/** A connection that fell silent would use up the function's time: a report is worth seconds. */
const requestHandler = { connectionTimeout: 1_000, requestTimeout: 5_000, throwOnRequestTimeout: true };

const INTERVAL = 1_000;
/** The run of this container that reported last, and when. */
let last: { run: string; at: number } | undefined;

/** In Lambda: the task's own record. */
export const recordHost: Host = {
  async progress(task, message, amount) {
    const run = `${task.taskId} ${task.round} ${task.attempt}`;
    const now = Date.now();
    if (last?.run === run && now - last.at < INTERVAL) return true;
    last = { run, at: now };
    const report = { message: message.slice(0, limits.statusMessage), ...amount };
    try {
      // A look costs half of what a write costs that is too late: a cancelled task is charged for no more writes.
      return (await alive(task)) && (await storeOf(task).applyBlind(task, progress(task.round, report, now)));
    } catch (error) {
      // A report that is lost is no reason to stop the work.
      console.error(JSON.stringify({ event: 'progress_failed', error: (error as Error).name }));
      return true;
    }
  },
  alive,
  async remember(task, memory) {
    try {
      return (await alive(task)) && (await storeOf(task).applyBlind(task, remember(task.round, memory)));
    } catch (error) {
      // The one thing about this write that DynamoDB may find wrong is how large it makes the item.
      if (!(error instanceof Error) || error.name !== 'ValidationException') throw error;
      throw new ToolError('The arguments, questions, answers, variables and steps of a task may take 400 KB together');
    }
  },
  async recall(task) {
    const seen = await look(task);
    return seen !== 'denied' && seen?.memoryRound === task.round ? seen.memory : undefined;
  },
  keep: (task, result) => storeIfLarge(result, task),
};

async function alive(task: TaskContext): Promise<boolean> {
  const seen = await look(task);
  return seen === 'denied' || (seen?.status === 'working' && seen.round === task.round);
}

let denied = false;

/**
 * What the record says. Where the role of the function may not read it, the tool goes on: a write that is lost tells it
 * that the task is over, and a retried round begins without the steps of the try before.
 */
async function look(task: TaskContext): Promise<Awaited<ReturnType<RunStore['glimpse']>> | 'denied'> {
  try {
    return await storeOf(task).glimpse(task);
  } catch (error) {
    const { name } = error as Error;
    if (name !== 'AccessDeniedException') throw error;
    if (!denied) console.error(JSON.stringify({ event: 'read_denied', action: 'dynamodb:GetItem', error: name }));
    denied = true;
    return 'denied';
  }
}

function storeOf({ table }: TaskContext): RunStore {
  const store =
    stores.get(table) ?? runStore(DynamoDBDocumentClient.from(new DynamoDBClient({ requestHandler })), table);
  stores.set(table, store);
  return store;
}
