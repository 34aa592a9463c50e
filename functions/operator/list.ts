import { OPEN, type Status } from '../tasks/record.ts';
import { isObject, parsed } from '../tasks/shape.ts';
import type { IndexedTask, PageKey, Selection, StoredTask } from '../tasks/table/operator-reads.ts';
import type { OperatorContext } from './context.ts';
import { OperatorError } from './errors.ts';
import { type Progress, progressOf } from './show.ts';
import { recordOf } from './view.ts';

export interface ListFilter extends Selection {
  /** @default those of open tasks */
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
/** Entries of the index, of about 150 bytes, that a page with a filter reads of one status: some 20 read units. */
const READ = 2_000;
/** Records that a page of one owner reads: DynamoDB ends it at 1 MB. */
const READ_OF_OWNER = 2_000;

/** By status: where the next page begins. `null`: there are no more. */
type Places = Readonly<Record<string, PageKey | null>>;

/**
 * One page of tasks, the newest first: one page of the index for each status and one batch of records, or one page of the
 * table for an owner. Never a Scan. A filter may leave a page short, or empty, although more follow.
 */
export async function list(
  filter: ListFilter,
  cursor: string | undefined,
  context: OperatorContext,
): Promise<ListPage> {
  const { statuses = OPEN, owner, ...selection } = filter;
  const places = placesOf(cursor, owner === undefined ? statuses : [owner]);
  if (owner !== undefined) return ofOwner(owner, { ...selection, statuses }, places, context);
  const filtered = selection.tool !== undefined || selection.deadlineUntil !== undefined;
  const limit = filtered ? READ : PAGE;
  const read = await Promise.all(
    statuses
      .filter((status) => places[status] !== null)
      .map(async (status) => ({
        status,
        ...(await context.reads.inStatus(status, selection, limit, places[status] ?? undefined)),
      })),
  );
  // What is older than the end of another status's page waits for a later page.
  const frontier = Math.max(0, ...read.map(({ next }) => Number(next?.createdAt ?? 0)));
  const shown = read
    .flatMap(({ tasks }) => tasks)
    .filter(({ createdAt }) => createdAt >= frontier)
    .sort(newestFirst)
    .slice(0, PAGE);
  const next = Object.fromEntries(
    statuses.map((status) => {
      const page = read.find((one) => one.status === status);
      return [status, page === undefined ? null : placeAfter(page, shown, places[status] ?? undefined)];
    }),
  );
  const stored = await context.reads.getMany(shown);
  const byId = new Map(stored.map((task) => [task.taskId, task]));
  return {
    // One that is missing was deleted a moment ago.
    tasks: shown.flatMap(({ taskId }) => byId.get(taskId) ?? []),
    ...(Object.values(next).some((place) => place !== null) && { cursor: textOf(next) }),
  };
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
  const working = tasks.flatMap((stored) => recordOf(stored) ?? []).filter(({ status }) => status === 'working');
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
  places: Places,
  context: OperatorContext,
): Promise<ListPage> {
  const { tasks, next } = await context.reads.ofOwner(owner, selection, READ_OF_OWNER, places[owner] ?? undefined);
  const shown = tasks.slice(0, PAGE);
  const last = shown.at(-1);
  const rest = tasks.length > shown.length && last !== undefined ? { owner, taskId: last.taskId } : next;
  return { tasks: shown, ...(rest && { cursor: textOf({ [owner]: rest }) }) };
}

const newestFirst = (a: IndexedTask, b: IndexedTask): number =>
  b.createdAt - a.createdAt || (a.taskId < b.taskId ? 1 : -1);

/** Behind the last task of a status that is shown. */
function placeAfter(
  { tasks, next }: { readonly tasks: readonly IndexedTask[]; readonly next?: PageKey },
  shown: readonly IndexedTask[],
  before: PageKey | undefined,
): PageKey | null | undefined {
  const mine = tasks.filter((task) => shown.includes(task));
  if (mine.length === tasks.length) return next ?? null;
  const last = mine.at(-1);
  if (last === undefined) return before;
  const { owner, taskId, status, createdAt } = last;
  return { owner, taskId, status, createdAt };
}

const textOf = (places: object): string => Buffer.from(JSON.stringify(places)).toString('base64url');

/** @param names what the list goes through: statuses, or one owner */
function placesOf(cursor: string | undefined, names: readonly string[]): Places {
  if (cursor === undefined) return {};
  const places = parsed(Buffer.from(cursor, 'base64url').toString());
  if (isObject(places) && Object.entries(places).every(([name, place]) => names.includes(name) && isIn(name, place))) {
    return places as Places;
  }
  throw new OperatorError('--cursor is not one that a list with these options gave');
}

const isIn = (name: string, place: unknown): boolean =>
  place === null || (isObject(place) && [place.owner, place.status].includes(name));
