import { TooManyStarts } from '../tasks/errors.ts';
import { limits } from '../tasks/limits.ts';
import type { TaskKey } from '../tasks/record.ts';
import type { Cursor, DueIndex } from '../tasks/table/due-index.ts';
import { isRepair, type Repair } from './decide.ts';
import { type Done, type ReconcilerContext, reconcile } from './reconcile.ts';

export interface SweepContext extends ReconcilerContext {
  readonly index: DueIndex;
  /** When the oldest unfinished task was created, in ms since the epoch. */
  readonly oldestOpen: () => Promise<number | undefined>;
  /** Makes a record in the stream of the table. */
  readonly probe: () => Promise<void>;
  /** Calls of Step Functions about runs that a sweep makes in a second. */
  readonly checksPerSecond: number;
  readonly sleep: (ms: number) => Promise<void>;
}

export interface Report {
  /** Every shard was read, at least in part, and not every task failed. The heartbeat reports it. */
  complete: boolean;
  /** Entries of the index that were settled. */
  due: number;
  /** Tasks left for the next sweep. */
  left: number;
  readonly repaired: Partial<Record<Repair, number>>;
  /** Counts by the name of the error. */
  readonly errors: Record<string, number>;
}

/** Tasks that are read and written at the same time. */
const AT_ONCE = 16;
/** Rounds of tasks that have waited. StartExecution allows 150 or 300 a second per account, by region. */
const RESUMES_PER_SECOND = { least: 5, most: 80 };
/** Checks in a second, one after the other: each may take 100 ms and more. */
const CHECKS_OF_LANE = 6;

/**
 * Repairs the tasks that are due, until `until` (ms since the epoch). An error in one task or shard does not stop the
 * others. It reads a page of each shard in turn. In at most half of the time it settles tasks whose record is enough.
 * Then, at a limited pace, those that depend on a run or start one, the longest due first. A task that it has
 * handled is no longer due, or due after the others, so the next sweep continues where this one ends.
 */
export async function sweep(until: number, context: SweepContext): Promise<Report> {
  const report: Report = { complete: true, due: 0, left: 0, repaired: {}, errors: {} };
  const started = context.now();
  const mostChecks = Math.ceil(((until - started) / 1_000) * context.checksPerSecond);
  const later: Record<Later, TaskKey[]> = {
    check: [],
    check_again: [],
    start: [],
    stop: [],
    resume: [],
    resume_unseen: [],
  };
  const walkUntil = started + (until - started) / 2;

  /** Returns the name of the error, if there was one. A start without room is left for the next sweep. */
  const settle = async (key: TaskKey, mayCheck: boolean, ports: ReconcilerContext): Promise<string | undefined> => {
    try {
      const done = await reconcile(key, mayCheck, ports);
      if (done === 'left') report.left++;
      else if (!isLater(done)) note(report, done);
      else if (/^resume/.test(done) || later[done].length < mostChecks) later[done].push(key);
      else report.left++;
      return undefined;
    } catch (error) {
      if (!(error instanceof TooManyStarts)) return failed(report, error);
      report.left++;
      return error.name;
    }
  };

  for await (const keys of pages(started, context, report)) {
    const late = await inParallel(
      keys,
      (key) => settle(key, false, context),
      () => context.now() >= walkUntil,
    );
    report.left += late;
    if (context.now() >= walkUntil) break;
  }
  const resumed = [later.resume, later.resume_unseen].map((keys) =>
    resumeAll(keys, (key) => settle(key, true, context), started + (until - started) * 0.8, context),
  );
  for (const left of await Promise.all(resumed)) report.left += left;
  /** Other callers of the account share the quota of DescribeExecution. */
  const noRoom = { toCheck: false };
  const lane = async (keys: Kept[], lanes: number) => {
    const calls = { made: 0 };
    const ports = counting(context, calls, noRoom);
    for (let next = keys.shift(); next !== undefined; next = keys.shift()) {
      const { key, kind } = next;
      if (kind === 'check' && noRoom.toCheck) {
        report.left++;
        continue;
      }
      const begun = context.now();
      calls.made = 0;
      await settle(key, true, ports);
      const pause = Math.max(0, begun + (calls.made * lanes * 1_000) / context.checksPerSecond - context.now());
      if (context.now() + pause >= until) break;
      await context.sleep(pause);
    }
    report.left += keys.splice(0).length;
  };
  // In turn. Of the checks first those whose run was never seen, as it may have to be started.
  const checks = interleaved([as('check', [...later.check, ...later.check_again]), as('start', later.start)]);
  const lanes = Math.ceil(context.checksPerSecond / CHECKS_OF_LANE);
  // Stops have a quota of their own: while others use it up, some are accepted all the same.
  await Promise.all([...Array.from({ length: lanes }, () => lane(checks, lanes)), lane(as('stop', later.stop), 1)]);
  // A sweep in which every task fails must not count as a heartbeat.
  if (report.due === 0 && Object.keys(report.errors).length > 0) report.complete = false;
  return report;
}

/** A task for the part of the sweep that calls Step Functions. */
interface Kept {
  readonly key: TaskKey;
  readonly kind: 'check' | 'start' | 'stop';
}
const as = (kind: Kept['kind'], keys: readonly TaskKey[]): Kept[] => keys.map((key) => ({ key, kind }));

/** The same ports, which count the calls of Step Functions. What there was no room for is in `full`. */
function counting(
  context: ReconcilerContext,
  calls: { made: number },
  noRoom: { toCheck: boolean },
): ReconcilerContext {
  return {
    ...context,
    async describe(executionArn) {
      calls.made++;
      try {
        return await context.describe(executionArn);
      } catch (error) {
        if ((error as Error).name === 'ThrottlingException') noRoom.toCheck = true;
        throw error;
      }
    },
    workflow: {
      ...context.workflow,
      start(...run) {
        // Without a history, no read comes before a start.
        calls.made = Math.max(calls.made, 1);
        return context.workflow.start(...run);
      },
      stop(...run) {
        calls.made = Math.max(calls.made, 1);
        return context.workflow.stop(...run);
      },
    },
  };
}

/** One page of every shard, then the next page of those that have more. */
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

/** The first of each list, then the second of each: no list uses up the time of all. */
function interleaved<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1))).flat();
}

/** Returns how many were left out because the time was up. */
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

/**
 * Begins the next round of tasks at a limited pace, until `until`. A round whose start is refused is begun, and only a check
 * starts it: so after a refusal it begins fewer in a second, until all are accepted again. Returns how many were left out.
 */
async function resumeAll(
  keys: readonly TaskKey[],
  settle: (key: TaskKey) => Promise<string | undefined>,
  until: number,
  { now, sleep }: SweepContext,
): Promise<number> {
  let most = RESUMES_PER_SECOND.most;
  for (let first = 0; first < keys.length; ) {
    const begun = now();
    const errors = await Promise.all(keys.slice(first, first + most).map(settle));
    first += errors.length;
    if (first === keys.length || now() + 1_000 >= until) return keys.length - first;
    const refused = errors.includes('TooManyStarts');
    most = refused ? Math.max(RESUMES_PER_SECOND.least, most >> 2) : Math.min(RESUMES_PER_SECOND.most, most << 1);
    await sleep(Math.max(0, begun + 1_000 - now()));
  }
  return 0;
}

/** Left for the part of the sweep that calls Step Functions. */
const LATER = ['check', 'check_again', 'start', 'stop', 'resume', 'resume_unseen'] as const;
type Later = (typeof LATER)[number];
const isLater = (done: Done): done is Later => LATER.some((later) => later === done);

function note(report: Report, done: Done): void {
  report.due++;
  if (isRepair(done)) report.repaired[done] = (report.repaired[done] ?? 0) + 1;
}

/** Counts an error by its name, and keeps nothing else of it. */
function failed({ errors }: Report, error: unknown): string {
  const name = error instanceof Error ? error.name : 'Error';
  errors[name] = (errors[name] ?? 0) + 1;
  return name;
}
