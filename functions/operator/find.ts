import { createdAtOf, taskKey } from '../tasks/ids.ts';
import type { TaskKey } from '../tasks/record.ts';
import type { OperatorReads, PageKey } from '../tasks/table/operator-reads.ts';
import { OperatorError } from './errors.ts';
import { OPEN, STATUSES } from './list.ts';

/** The least of an id that names a task. `dev` prints the last six characters. */
const SHORTEST = 6;
/** A full id. */
const ID = /^(?:[0-9a-z]{26}_)?[0-9a-z]{36}$/;
/** Pages of the index that a search reads of one status: some 40,000 tasks. */
const PAGES = 20;
const PAGE = 2_000;

/**
 * The key of a task from its id, or from the end of its id. A full id needs a few small reads. The end of an id, and the id
 * of a task with an idempotency key, need a search of the index: through the open tasks, then through the others.
 * Throws OperatorError.
 */
export async function findTask(id: string, owner: string | undefined, reads: OperatorReads): Promise<TaskKey> {
  const text = id.replace(/^…|^\.\.\./, '').toLowerCase();
  if (text.length < SHORTEST)
    throw new OperatorError(`'${id}' is too short: give the id, or its last ${SHORTEST} characters`);
  const found = ID.test(text) ? await byId(text, owner, reads) : await search(text, reads);
  if (found !== undefined) return found;
  throw new OperatorError(
    owner === undefined
      ? `No task '${id}'. It may have expired. If its caller has many tasks, give --owner`
      : `No task '${id}' of the owner '${owner}'`,
  );
}

async function byId(taskId: string, owner: string | undefined, reads: OperatorReads): Promise<TaskKey | undefined> {
  const anonymous = taskKey({ kind: 'anonymous' }, taskId);
  const keys = [...(owner === undefined ? [] : [{ owner, taskId }]), ...(anonymous ? [anonymous] : [])];
  for (const key of keys) if ((await reads.get(key, false)) !== undefined) return key;
  if (owner !== undefined) return undefined;
  const createdAt = createdAtOf(taskId);
  const near = { createdFrom: createdAt, createdUntil: createdAt };
  const pages = await Promise.all(STATUSES.map((status) => reads.inStatus(status, near, PAGE)));
  const exact = pages.flatMap(({ tasks }) => tasks).find((task) => task.taskId === taskId);
  return exact ?? search(taskId, reads);
}

async function search(end: string, reads: OperatorReads): Promise<TaskKey | undefined> {
  const found = new Map<string, TaskKey>();
  for (const status of STATUSES) {
    let from: PageKey | undefined;
    for (let page = 0; page < PAGES; page++) {
      const { tasks, next } = await reads.inStatus(status, {}, PAGE, from);
      for (const task of tasks) if (task.taskId.endsWith(end)) found.set(task.taskId, task);
      from = next;
      if (from === undefined) break;
    }
    // What is open is what people ask for.
    if (found.size > 0 && status === OPEN.at(-1)) break;
  }
  if (found.size > 1) throw new OperatorError(`${found.size} tasks end in '${end}': ${[...found.keys()].join(', ')}`);
  return [...found.values()][0];
}
