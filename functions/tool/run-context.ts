import { setBounded } from '../tasks/bounded-map.ts';
import { limits } from '../tasks/limits.ts';
import { logEvent } from '../tasks/log.ts';
import { storeIfLarge } from '../tasks/results/large-result.ts';
import { type RunStore, runStore } from '../tasks/table/store.ts';
import type { TaskContext } from '../tasks/tool-contract.ts';

/** The outside of a run. `false` means that the task was cancelled, given up or superseded. */
export interface RunContext {
  /** Writes at most one report a second and drops those in between. */
  progress(task: TaskContext, message: string, amount: Amount): Promise<boolean>;
  alive(task: TaskContext): Promise<boolean>;
  /**
   * Stores JSON text for the next attempt at this round, and replaces `before`. If another run of the round has stored a
   * text since, changes nothing and returns that text.
   */
  remember(task: TaskContext, memory: string, before: string | undefined): Promise<boolean | string>;
  recall(task: TaskContext): Promise<string | undefined>;
  /** Returns the result, or a reference to S3 if it is too large for the record. */
  keep(task: TaskContext, result: unknown): Promise<unknown>;
}

export interface Amount {
  readonly progress?: number;
  readonly total?: number;
}

const stores = new Map<string, RunStore>();
/** Timeout of a request, in milliseconds. A dead connection must not use up the time of the function. */
const REQUEST_TIMEOUT = 5_000;

const INTERVAL = 1_000;
/** The most runs that a container remembers: it may run several tasks in turn. */
const MOST_RUNS = 100;
/** The last report of each run, the oldest first. */
const last = new Map<string, { readonly at: number; readonly amount: Amount }>();

/** The context in Lambda: reads the record, and writes the items of its runs while the record lets this run work. */
export const runContext: RunContext = {
  async progress(task, message, amount) {
    const run = `${task.table} ${task.owner} ${task.taskId} ${task.round} ${task.attempt} ${task.run}`;
    const now = Date.now();
    const before = last.get(run);
    if (before !== undefined && now - before.at < INTERVAL) return true;
    // A message alone does not change the amount.
    const report = { message: message.slice(0, limits.statusMessage), ...before?.amount, ...amount };
    setBounded(last, run, { at: now, amount: { ...before?.amount, ...amount } }, MOST_RUNS);
    try {
      // A read is cheaper than a write, so a cancelled task pays for no more writes.
      return (await alive(task)) && (await (await storeOf(task)).report(task, report, now));
    } catch (error) {
      // The work continues without this report.
      if (!isDenied(error, 'dynamodb:UpdateItem')) logEvent('progress_failed', { error: (error as Error).name });
      return true;
    }
  },
  alive,
  async remember(task, memory, before) {
    try {
      if (!(await alive(task))) return false;
      const store = await storeOf(task);
      if (await store.remember(task, memory, before ?? null)) return true;
      const other = await runContext.recall(task);
      // An earlier write, whose answer was lost, has stored the same text.
      if (other !== undefined) return other === memory || other;
      // Either a later round has stored a text, and refuses this one, too, or the role may not read: then the last write counts.
      return await store.remember(task, memory);
    } catch (error) {
      // This happens during a deployment. The step is done; only a retried round would do it again.
      if (isDenied(error, 'dynamodb:UpdateItem')) return true;
      throw error;
    }
  },
  async recall(task) {
    try {
      return await (await storeOf(task)).recall(task);
    } catch (error) {
      if (isDenied(error, 'dynamodb:GetItem')) return undefined;
      throw error;
    }
  },
  keep: (task, result) => storeIfLarge(result, task),
};

/**
 * Whether the task is alive. If the role of the function may not read the record, the tool continues: it sees the end of
 * its task only after a later round has reported, and a retried round starts without the steps of the last attempt.
 */
async function alive(task: TaskContext): Promise<boolean> {
  try {
    const seen = await (await storeOf(task)).readStatus(task);
    return seen?.status === 'working' && seen.round === task.round;
  } catch (error) {
    if (isDenied(error, 'dynamodb:GetItem')) return true;
    throw error;
  }
}

const denied = new Set<string>();

/** Whether the role of the function lacks this right. Logs it once. */
function isDenied(error: unknown, action: 'dynamodb:GetItem' | 'dynamodb:UpdateItem'): boolean {
  const { name } = error as Error;
  if (name !== 'AccessDeniedException') return false;
  const event = action === 'dynamodb:GetItem' ? 'read_denied' : 'write_denied';
  if (!denied.has(action)) logEvent(event, { action, error: name });
  denied.add(action);
  return true;
}

async function storeOf({ table }: TaskContext): Promise<RunStore> {
  const known = stores.get(table);
  if (known !== undefined) return known;
  const { dynamoDb } = await import('#mcp-task-server/dynamodb');
  const store = runStore(dynamoDb({ requestTimeout: REQUEST_TIMEOUT }), table);
  stores.set(table, store);
  return store;
}
