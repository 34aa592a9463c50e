import { PROGRESS_PARTITION, tableKey } from '../attributes.ts';
import type { DynamoDb, UpdateInput } from '../aws/dynamodb.ts';
import { limits } from '../limits.ts';
import type { TaskKey } from '../record.ts';
import { ifConditionHolds } from './conditional-write.ts';

/** A round of a task, with all its attempts. */
export interface RunKey extends TaskKey {
  readonly round: number;
  /** When the unfinished work of the task is given up, in ms since the epoch. */
  readonly deadline: number;
}

/** The key of an item that the runs of a task write. `end`: what its sort key has behind the id of the task. */
export const runItemKey = ({ owner, taskId }: TaskKey, end = ''): TaskKey => ({
  owner: PROGRESS_PARTITION + owner,
  taskId: taskId + end,
});

/** When an item of a run expires, in seconds since the epoch. Nothing reads it after the deadline. */
export const expiryOf = ({ deadline }: Pick<RunKey, 'deadline'>): number =>
  Math.ceil((deadline + limits.retention) / 1_000);

/** Whether an item is current. An expired one belongs to an older task with the same key. */
export const isCurrent = ({ expiresAt }: Readonly<Record<string, unknown>>): boolean => Number(expiresAt) >= seconds();

/**
 * Writes an item of a run if there is none, or if the condition holds; undefined values are removed. False: another item is
 * there.
 *
 * @param or a condition in terms of the item's attributes (`#name`) and their new values (`:name`), or the values of `values`
 */
export async function writeRunItem(
  db: DynamoDb,
  table: string,
  { run, Key, item, or, values }: RunItemWrite,
): Promise<boolean> {
  const all = { ...item, expiresAt: expiryOf(run) };
  const names = Object.keys(all);
  const given = Object.entries(all).filter(([, value]) => value !== undefined);
  const gone = names.filter((name) => !given.some(([one]) => one === name));
  const update: UpdateInput = {
    TableName: table,
    Key: tableKey(Key),
    ConditionExpression: ['attribute_not_exists(#expiresAt)', '#expiresAt < :now', ...(or ?? [])].join(' OR '),
    UpdateExpression:
      `SET ${given.map(([name]) => `#${name} = :${name}`).join(', ')}` +
      (gone.length > 0 ? ` REMOVE ${gone.map((name) => `#${name}`).join(', ')}` : ''),
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: {
      ...Object.fromEntries(given.map(([name, value]) => [`:${name}`, value])),
      ':now': seconds(),
      ...values,
    },
    ReturnValues: 'NONE',
  };
  return (await ifConditionHolds(db.update(update))) !== undefined;
}

interface RunItemWrite {
  readonly run: RunKey;
  readonly Key: TaskKey;
  readonly item: Readonly<Record<string, unknown>>;
  readonly or?: readonly string[];
  readonly values?: Readonly<Record<string, unknown>>;
}

const seconds = (): number => Math.floor(Date.now() / 1_000);
