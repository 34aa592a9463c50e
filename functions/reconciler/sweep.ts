import { limits } from '../tasks/limits.ts';
import type { TaskKey } from '../tasks/record.ts';
import type { Cursor, DueIndex } from '../tasks/table/due-index.ts';
import type { Repair } from './decide.ts';
import { type Done, type ReconcilerContext, reconcile } from './reconcile.ts';

export interface SweepContext extends ReconcilerContext {
  readonly index: DueIndex;
  readonly sleep: (ms: number) => Promise<void>;
}

export interface Report {
  /** Every shard was read, if not to its end, and not everything went wrong: what the heartbeat says. */
  complete: boolean;
  /** Entries of the index that were dealt with. */
  due: number;
  /** Tasks left for the next sweep. */
  left: number;
  readonly repaired: Partial<Record<Repair, number>>;
  /** How often what went wrong, by name. */
  readonly errors: Record<string, number>;
}

/** Tasks read and written at the same time. */
const AT_ONCE = 16;
/** An account may look at 10 or 15 executions a second, depending on its region; others want to look, too. */
const LOOKS_PER_SECOND = 6;

/**
 * Puts right what is due, until `until` (ms since the epoch), whatever goes wrong with one task or one shard. A page of
 * each shard in turn, so that none waits for another; first all that a record alone decides, for at most half of the
 * time, then, at a pace, what depends on a run, the longest due first. What was looked at is due no more, or has gone
 * behind the others, so the next sweep goes on where this one ends.
 */
export async function sweep(until: number, context: SweepContext): Promise<Report> {
  const report: Report = { complete: true, due: 0, left: 0, repaired: {}, errors: {} };
  const started = context.now();
  const mostLooks = Math.ceil(((until - started) / 1_000) * LOOKS_PER_SECOND);
  const toLook: Record<'look' | 'look_again', TaskKey[]> = { look: [], look_again: [] };
  let looks = 0;
  const counting: ReconcilerContext = {
    ...context,
    describe(executionArn) {
      looks++;
      return context.describe(executionArn);
    },
  };
  const walkUntil = started + (until - started) / 2;

  /** Answers the name of what went wrong. */
  const settle = async (key: TaskKey, mayLook: boolean): Promise<string | undefined> => {
    try {
      const done = await reconcile(key, mayLook, counting);
      if (done !== 'look' && done !== 'look_again') note(report, done);
      else if (toLook[done].length < mostLooks) toLook[done].push(key);
      else report.left++;
      return undefined;
    } catch (error) {
      return failed(report, error);
    }
  };

  for await (const keys of pages(started, context, report)) {
    const late = await inParallel(
      keys,
      (key) => settle(key, false),
      () => context.now() >= walkUntil,
    );
    report.left += late;
    if (context.now() >= walkUntil) break;
  }
  // First those whose run was never seen: it may have to be started.
  const keys = [...toLook.look, ...toLook.look_again];
  for (let key = keys.shift(); key !== undefined; key = keys.shift()) {
    const begun = context.now();
    looks = 0;
    const error = await settle(key, true);
    const pause = Math.max(0, begun + (looks * 1_000) / LOOKS_PER_SECOND - context.now());
    if (context.now() + pause >= until || ['ThrottlingException', 'TooManyStarts'].includes(error ?? '')) break;
    await context.sleep(pause);
  }
  report.left += keys.length;
  // A sweep that gets nothing done is no sign of life.
  if (report.due === 0 && Object.keys(report.errors).length > 0) report.complete = false;
  return report;
}

/** One page of every shard, then the next one of those that have more. */
async function* pages(until: number, { index }: SweepContext, report: Report): AsyncGenerator<TaskKey[]> {
  let open: { readonly shard: number; readonly after?: Cursor }[] = Array.from(
    { length: limits.dueShards },
    (_, shard) => ({ shard }),
  );
  while (open.length > 0) {
    const read = await Promise.all(
      open.map(async ({ shard, after }) => {
        try {
          return { shard, ...(await index.page(shard, until, after)) };
        } catch (error) {
          report.complete = false;
          failed(report, error);
          return { shard, keys: [] };
        }
      }),
    );
    yield interleaved(read.map(({ keys }) => keys));
    open = read.flatMap(({ shard, next }) => (next === undefined ? [] : [{ shard, after: next }]));
  }
}

/** The longest due of each first, so that none uses up what all share. */
function interleaved<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1))).flat();
}

/** Answers how many were left out because the time was up. */
async function inParallel<T>(
  items: readonly T[],
  run: (item: T) => Promise<unknown>,
  isOver: () => boolean,
): Promise<number> {
  const queue = items.values();
  let left = 0;
  const worker = async () => {
    for (const item of queue) {
      if (isOver()) left++;
      else await run(item);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return left;
}

function note(report: Report, done: Exclude<Done, 'look' | 'look_again'>): void {
  report.due++;
  if (done === 'nothing' || done === 'postponed') return;
  report.repaired[done] = (report.repaired[done] ?? 0) + 1;
}

/** The name is all that is said of it. */
function failed({ errors }: Report, error: unknown): string {
  const name = error instanceof Error ? error.name : 'Error';
  errors[name] = (errors[name] ?? 0) + 1;
  return name;
}
