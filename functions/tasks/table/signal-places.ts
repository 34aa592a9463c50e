import { PUBLISHED_PARTITION, SIGNAL_PARTITION, SORT_KEYS, tableKey } from '../attributes.ts';
import type { DynamoDb } from '../aws/dynamodb.ts';
import type { TaskKey } from '../record.ts';
import { has, isString, parsed } from '../shape.ts';
import { isCurrent, type RunKey, writeRunItem } from './run-items.ts';

/** Which task the links and webhooks of a place are of (`../waits/signal-url.ts`). */
export interface SignalPlaceStore {
  /** Keeps the first task of a place. */
  writePlace(run: RunKey, place: string): Promise<void>;
  /** Strongly consistent: one read unit. Any tool of the server may have written it. */
  readPlace(place: string): Promise<TaskKey | undefined>;
}

const isOwner = (value: unknown): boolean =>
  isString(value) && /^(owner|session|task)#[0-9a-z]{1,64}$/.test(String(value));
const isTask = (value: unknown): boolean => isString(value) && /^[0-9a-z_]{36,64}$/.test(String(value));
/** Only the key of a record: the tool that wrote it could name any item. */
const isKey = has({ owner: isOwner, taskId: isTask });

export function signalPlaceStore(db: DynamoDb, table: string): SignalPlaceStore {
  const keyOf = (place: string): TaskKey => ({ owner: SIGNAL_PARTITION + place, taskId: SORT_KEYS.task });
  return {
    async writePlace(run, place) {
      const value = JSON.stringify({ owner: run.owner, taskId: run.taskId });
      await writeRunItem(db, table, { run, Key: keyOf(place), item: { value } });
    },
    async readPlace(place) {
      const { Item } = await db.get({ TableName: table, Key: tableKey(keyOf(place)), ConsistentRead: true });
      const key = parsed(String(Item?.value));
      return isKey(key) ? (key as TaskKey) : undefined;
    },
  };
}

/**
 * Notes which change of a task publishes a link on EventBridge. False: another one does. One write unit, in later rounds half a read
 * unit, beside the journal of the task, and as long.
 */
export const linkPublisher =
  (db: DynamoDb, table: string) =>
  async (run: RunKey, name: string, change: string): Promise<boolean> => {
    const Key: TaskKey = { owner: `${PUBLISHED_PARTITION}${run.owner}#${run.taskId}`, taskId: `#${name}` };
    // Of the links of an earlier round. This read costs a tenth of a write that is refused.
    const { Item } = run.round > 1 ? await db.get({ TableName: table, Key: tableKey(Key) }) : {};
    if (Item !== undefined && isCurrent(Item)) return Item.value === change;
    return writeRunItem(db, table, { run, Key, item: { value: change }, or: ['#value = :value'] });
  };
