import { createdAtOf, taskKey } from '../tasks/ids.ts';
import { limits } from '../tasks/limits.ts';
import { STATUSES, type TaskKey } from '../tasks/record.ts';
import type { OperatorReads, PageKey, Selection } from '../tasks/table/operator-reads.ts';
import { OperatorError } from './errors.ts';

/**
 * The shortest end of an id that names a task. `dev` prints as many. 50 bits: a client that chooses its idempotency keys
 * cannot find one whose id ends like the id of another task.
 */
const SHORTEST = 10;
/** A whole id: with the part of its session, or without. */
const ID = /^(?:[0-9a-z]{26}_)?[0-9a-z]{36}$/;
/** Pages that a search reads: of each status in the index, or of one owner. */
const PAGES = 20;
const PAGE = 2_000;
const PAGE_OF_SHARD = PAGE / limits.statusShards;

const normalized = (id: string): string => id.replace(/^…|^\.\.\./, '').toLowerCase();

/** Whether an operator has named a task by its whole id, not by the end of it. */
export const isWholeId = (id: string): boolean => ID.test(normalized(id));

/**
 * The key of a task from its id, or from the end of its id. With an owner, only tasks of this owner are found. A whole id
 * needs a few small reads. The end of an id needs a search: of the owner's partition, or of all statuses in the index. So
 * does the id of a task with an idempotency key, without its owner. Throws OperatorError if no task is found, if several
 * are, or if a search by the end of an id did not see all tasks.
 */
export async function findTask(id: string, owner: string | undefined, reads: OperatorReads): Promise<TaskKey> {
  const text = normalized(id);
  if (text.length < SHORTEST) {
    throw new OperatorError(`'${id}' is too short: give the id, or at least its last ${SHORTEST} characters`);
  }
  const whole = ID.test(text);
  const found = whole ? await byId(text, owner, reads) : undefined;
  if (found !== undefined) return found;
  if (owner === undefined) return theOne(text, owner, await searchAll(text, reads));
  return theOne(text, owner, whole ? NONE : await searchOwner(text, owner, reads));
}

async function byId(text: string, owner: string | undefined, reads: OperatorReads): Promise<TaskKey | undefined> {
  const key = owner === undefined ? taskKey({ kind: 'anonymous' }, text) : { owner, taskId: idOf(text, owner) };
  if (key !== undefined && (await reads.get(key, false)) !== undefined) return key;
  if (owner !== undefined) return undefined;
  const createdAt = createdAtOf(text);
  const near = { createdFrom: createdAt, createdUntil: createdAt };
  const pages = await Promise.all(STATUSES.map((status) => reads.inStatus(status, near, PAGE, text)));
  return pages.flatMap(({ tasks }) => tasks).find((task) => task.taskId === text);
}

/** All ids of a session begin with its partition. */
const idOf = (text: string, owner: string): string =>
  owner.startsWith('session#') && !text.includes('_') ? `${owner.slice('session#'.length)}_${text}` : text;

interface Found {
  readonly keys: readonly TaskKey[];
  /** Whether the search saw every task. */
  readonly complete: boolean;
}
const NONE: Found = { keys: [], complete: true };

async function searchAll(end: string, reads: OperatorReads): Promise<Found> {
  const found = await Promise.all(
    STATUSES.map((status) => searchPages(end, (from?: Selection) => reads.inStatus(status, from ?? {}, PAGE_OF_SHARD))),
  );
  return { keys: found.flatMap(({ keys }) => keys), complete: found.every(({ complete }) => complete) };
}

const searchOwner = (end: string, owner: string, reads: OperatorReads): Promise<Found> =>
  searchPages(end, (from?: PageKey) => reads.ofOwner(owner, {}, PAGE, from));

async function searchPages<Place>(
  end: string,
  read: (from?: Place) => Promise<{ readonly tasks: readonly TaskKey[]; readonly next?: Place }>,
): Promise<Found> {
  const keys: TaskKey[] = [];
  let from: Place | undefined;
  for (let page = 0; page < PAGES; page++) {
    const { tasks, next } = await read(from);
    keys.push(...tasks.filter(({ taskId }) => taskId.endsWith(end)).map(({ owner, taskId }) => ({ owner, taskId })));
    from = next;
    if (from === undefined) break;
  }
  return { keys, complete: from === undefined };
}

function theOne(end: string, owner: string | undefined, { keys, complete }: Found): TaskKey {
  // The index may show a task twice, in the status before and in that after a change.
  const found = [...new Map(keys.map((key) => [`${key.owner} ${key.taskId}`, key])).values()];
  const [first, ...more] = found;
  const named = found.map((key) => `${key.taskId} (owner ${key.owner})`).join(', ');
  if (more.length > 0) throw new OperatorError(`${found.length} tasks end in '${end}', give a whole id: ${named}`);
  // No other task has a whole id. But another one that the search did not see may end like this one.
  if (first !== undefined && (complete || ID.test(end))) return first;
  const unseen = 'There are more tasks than the search reads';
  if (first !== undefined) throw new OperatorError(`${unseen}. One ends in '${end}', give its whole id: ${named}`);
  const whose = owner === undefined ? '' : ` of the owner '${owner}'`;
  if (complete) throw new OperatorError(`No task '${end}'${whose}. It may have expired`);
  const hint = owner === undefined ? 'its whole id and --owner' : 'its whole id';
  throw new OperatorError(`No task '${end}'${whose} among those that were searched. ${unseen}: give ${hint}`);
}
