import { tableKey } from '../tasks/attributes.ts';
import { OPEN, type Status } from '../tasks/record.ts';
import { type Check, has, isNumber, isString, listOf, oneOf, parsed } from '../tasks/shape.ts';
import type { IndexedTask, PageKey, Selection, StoredTask } from '../tasks/table/operator-reads.ts';
import type { OperatorContext } from './context.ts';
import { OperatorError } from './errors.ts';
import { type Progress, progressOf } from './show.ts';
import { recordOf } from './view.ts';

export interface ListFilter extends Selection {
  /** @default all statuses of open tasks */
  readonly statuses?: readonly Status[];
  readonly owner?: string;
}

export interface ListPage {
  /** The newest first. */
  readonly tasks: readonly StoredTask[];
  /** For the next page. Undefined: there is none. */
  readonly cursor?: string;
}

/** At most what one page shows. */
export const PAGE = 50;
/**
 * Entries of about 150 bytes that a page reads of each partition of a status: one read unit, and most pages show some six of
 * them. With a filter some 20 read units of a status.
 */
const READ = 25;
const READ_FILTERED = 250;
/** Records that a page of one owner reads: DynamoDB ends it at 1 MB. */
const READ_OF_OWNER = 2_000;

/** Where the next page begins: behind these tasks of the millisecond. */
interface Place {
  readonly createdUntil: number;
  /** Ids of tasks of this millisecond that earlier pages have shown. */
  readonly shown: readonly string[];
}

/**
 * One page of tasks, the newest first: one page of each partition of the index for each status and one batch of records, or
 * one page of the table for an owner. Never a Scan. A filter may leave a page short, or empty, although more follow.
 */
export async function list(
  filter: ListFilter,
  cursor: string | undefined,
  context: OperatorContext,
): Promise<ListPage> {
  const { statuses = OPEN, owner, ...selection } = filter;
  if (owner !== undefined) return ofOwner(owner, { ...selection, statuses }, cursor, context);
  const { createdUntil = Number.MAX_SAFE_INTEGER } = selection;
  const place = placeOf<Place>(cursor, isPlace) ?? { createdUntil, shown: [] };
  const filtered = selection.tool !== undefined || selection.deadlineUntil !== undefined;
  // Those that were shown come first again.
  const limit = (filtered ? READ_FILTERED : READ) + place.shown.length;
  const from = { ...selection, createdUntil: Math.min(createdUntil, place.createdUntil) };
  const read = await Promise.all(statuses.map((status) => context.reads.inStatus(status, from, limit)));
  // What is older than the end of another status's page waits for a later page.
  const frontier = Math.max(0, ...read.map(({ next }) => next?.createdUntil ?? 0));
  const shown = new Set(place.shown);
  const seen = read
    .flatMap(({ tasks }) => tasks)
    .filter(({ createdAt, taskId }) => createdAt >= frontier && !shown.has(taskId));
  // The index may show a task twice, in the status before and in that after a change.
  const found = [...new Map(seen.map((task) => [task.taskId, task])).values()].sort(newestFirst);
  const tasks = found.slice(0, PAGE);
  const next = tasks.length < found.length ? tasks.at(-1)?.createdAt : frontier || undefined;
  const stored = new Map((await context.reads.getMany(tasks)).map((task) => [task.taskId, task]));
  return {
    // One that is missing was deleted a moment ago.
    tasks: tasks.flatMap(({ taskId }) => stored.get(taskId) ?? []),
    ...(next !== undefined && { cursor: textOf(placeAfter(tasks, next, place)) }),
  };
}

function placeAfter(tasks: readonly IndexedTask[], createdUntil: number, before: Place): Place {
  const shown = tasks.filter(({ createdAt }) => createdAt === createdUntil).map(({ taskId }) => taskId);
  return { createdUntil, shown: createdUntil === before.createdUntil ? [...before.shown, ...shown] : shown };
}

/**
 * What the runs of the working tasks of a page reported last, by task id: one batch more, and half a read unit for each.
 *
 * @param messages what the tools wrote, too: it needs the right to payloads
 */
export async function progressIn(
  { tasks }: ListPage,
  messages: boolean,
  { reads }: OperatorContext,
): Promise<ReadonlyMap<string, Progress>> {
  const working = tasks
    .flatMap((stored) => recordOf(stored) ?? [])
    .filter(({ status }) => status === 'working' || status === 'waiting');
  const reports = await reads.progressOfMany(working, messages);
  return new Map(
    working.flatMap((record) => {
      const progress = progressOf(record, reports.get(record.taskId));
      return progress === undefined ? [] : [[record.taskId, progress] as const];
    }),
  );
}

async function ofOwner(
  owner: string,
  selection: Selection & { readonly statuses: readonly Status[] },
  cursor: string | undefined,
  context: OperatorContext,
): Promise<ListPage> {
  const from = placeOf<PageKey>(cursor, has(tableKey({ owner: oneOf(owner), taskId: isString })));
  const { tasks, next } = await context.reads.ofOwner(owner, selection, READ_OF_OWNER, from);
  const shown = tasks.slice(0, PAGE);
  const last = shown.at(-1);
  const rest = tasks.length > shown.length && last !== undefined ? tableKey({ owner, taskId: last.taskId }) : next;
  return { tasks: shown, ...(rest && { cursor: textOf(rest) }) };
}

const newestFirst = (a: IndexedTask, b: IndexedTask): number =>
  b.createdAt - a.createdAt || (a.taskId < b.taskId ? 1 : -1);

const textOf = (place: object): string => Buffer.from(JSON.stringify(place)).toString('base64url');

function placeOf<T>(cursor: string | undefined, isOne: Check): T | undefined {
  if (cursor === undefined) return undefined;
  const place: unknown = parsed(Buffer.from(cursor, 'base64url').toString());
  if (isOne(place)) return place as T;
  throw new OperatorError('--cursor is not one that a list with these options gave');
}

const isPlace = has({ createdUntil: isNumber, shown: listOf(isString) });
