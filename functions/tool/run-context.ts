import { setBounded } from '../tasks/bounded-map.ts';
import { limits } from '../tasks/limits.ts';
import { logEvent } from '../tasks/log.ts';
import { storeIfLarge } from '../tasks/results/large-result.ts';
import type { TaskContext } from '../tasks/tool-contract.ts';
import type { FilesPort } from './files/port.ts';
import { storedFiles } from './files/stored.ts';
import type { JournalPort } from './journal/port.ts';
import { storedJournal } from './journal/stored.ts';
import { isDenied, runKeyOf, storeOf } from './run-store.ts';

/** The outside of a run. `false` means that the task was cancelled, given up or superseded. */
export interface RunContext {
  /** Writes at most one report a second and drops those in between, unless one says `atOnce`. */
  progress(task: TaskContext, message: string, amount: Amount, atOnce?: boolean): Promise<boolean>;
  alive(task: TaskContext): Promise<boolean>;
  readonly journal: JournalPort;
  readonly files: FilesPort;
  /** Returns the result, or a reference to S3 if it is too large for the record. */
  keep(task: TaskContext, result: unknown): Promise<unknown>;
}

export interface Amount {
  readonly progress?: number;
  readonly total?: number;
}

const INTERVAL = 1_000;
/** The most runs that a container remembers: it may run several tasks in turn. */
const MOST_RUNS = 100;
/** The last report of each run, the oldest first. */
const last = new Map<string, { readonly at: number; readonly amount: Amount }>();

/** The context in Lambda: reads the record, and writes the items of its runs while the record lets this run work. */
export const runContext: RunContext = {
  async progress(task, message, amount, atOnce = false) {
    const run = `${task.table} ${task.owner} ${task.taskId} ${task.round} ${task.attempt} ${task.run}`;
    const now = Date.now();
    const before = last.get(run);
    if (!atOnce && before !== undefined && now - before.at < INTERVAL) return true;
    // A message alone does not change the amount.
    const report = { message: message.slice(0, limits.statusMessage), ...before?.amount, ...amount };
    setBounded(last, run, { at: now, amount: { ...before?.amount, ...amount } }, MOST_RUNS);
    try {
      // A read is cheaper than a write, so a cancelled task pays for no more writes.
      return (await alive(task)) && (await (await storeOf(task)).report(runKeyOf(task), report, now));
    } catch (error) {
      // The work continues without this report.
      if (!isDenied(error, 'UpdateItem')) logEvent('progress_failed', { error: (error as Error).name });
      return true;
    }
  },
  alive,
  journal: storedJournal,
  files: storedFiles,
  keep: (task, result) => storeIfLarge(result, task),
};

/**
 * Whether the task is alive. If the role of the function may not read the record, the tool continues: it sees the end of
 * its task only after a later round has reported.
 */
async function alive(task: TaskContext): Promise<boolean> {
  try {
    const seen = await (await storeOf(task)).readStatus(task);
    return seen?.status === 'working' && seen.round === task.round;
  } catch (error) {
    if (isDenied(error, 'GetItem')) return true;
    throw error;
  }
}
