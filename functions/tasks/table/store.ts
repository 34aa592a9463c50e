import { BEFORE_TASKS, INDEXES, itemOf, KEY, tableKey } from '../attributes.ts';
import type { DynamoDb, GetInput, PutInput, UpdateInput } from '../aws/dynamodb.ts';
import { Unavailable } from '../errors.ts';
import type { TaskEvent, TaskKey, TaskRecord, Writer } from '../record.ts';
import type { Change } from '../transitions/change.ts';
import { ifConditionHolds } from './conditional-write.ts';
import { type JournalStore, journalStore } from './journal-items.ts';
import { known, recordIn } from './known-record.ts';
import { type OpenTaskSlotStore, openTaskSlotStore } from './open-task-slots.ts';
import { type ProgressStore, progressStore, readProgress, withAllProgress, withProgress } from './progress-item.ts';
import { type SessionStore, sessionStore } from './session-notes.ts';
import { type SignalPlaceStore, signalPlaceStore } from './signal-places.ts';
import { statusShard } from './status-index.ts';
import { type StreamCountStore, streamCountStore } from './stream-count.ts';

/**
 * The only place that holds DynamoDB expressions for tasks (docs/architecture/README.md, "Rules of the code"). Those for other
 * items are in `progress-item.ts`, `journal-items.ts`, `../files/file-items.ts`, `run-items.ts`, `signal-places.ts`,
 * `session-notes.ts`, `open-task-slots.ts` and `stream-count.ts`; for the index in `due-index.ts`; for a copy by an operator in `../../operator/put-back.ts`.
 */
export interface TaskStore extends RunStore, SessionStore, OpenTaskSlotStore, StreamCountStore {
  /** False when a task with this key exists already. */
  create(record: TaskRecord): Promise<boolean>;
  /**
   * The record as stored: one read unit if it is small. Throws RecordUnknown.
   *
   * @param more `report`: with the last report of its run, up to a second old. Costs half a read unit more
   */
  get(key: TaskKey, more?: { readonly report?: true }): Promise<TaskRecord | undefined>;
  /**
   * The tasks among up to 100 that exist and that this release understands, without the reports of their runs. Strongly
   * consistent. Throws Unavailable when some could not be read.
   */
  getMany(keys: readonly TaskKey[]): Promise<TaskRecord[]>;
  /**
   * As getMany, with the reports of their runs. Costs half as much, and half a unit for each report. What was written in the
   * last second may be missing: read once more by getMany before a deadline decides.
   */
  readMany(keys: readonly TaskKey[]): Promise<TaskRecord[]>;
  /** Up to 100 records, those that are working with the reports of their runs: half a read unit each. */
  withReports(records: readonly TaskRecord[]): Promise<TaskRecord[]>;
  /**
   * Newest first, after the taskId `after`. Strongly consistent (C-23). Leaves out records that this release does not
   * understand, so a page may be shorter than `limit`. With reports, as withReports.
   */
  list(owner: string, limit: number, after?: string): Promise<{ tasks: TaskRecord[]; last?: string }>;
  /** The record after the change. Undefined when its conditions do not hold. */
  apply(key: TaskKey, change: Change): Promise<TaskRecord | undefined>;
  /** As apply, but only says whether the change was made. */
  applyBlind(key: TaskKey, change: Change): Promise<boolean>;
  /**
   * Makes the sweep come back at `later` to a task that is due by `now`. Does not read the record: for those that this
   * release does not understand. Times in ms since the epoch.
   */
  postpone(key: TaskKey, now: number, later: number): Promise<void>;
}

/** What a tool's run needs of the store. The bundle of a tool holds only this part. */
export interface RunStore extends ProgressStore, JournalStore, SignalPlaceStore {
  /** What a run may read of its task. */
  readStatus(key: TaskKey): Promise<Pick<TaskRecord, (typeof STATUS)[number]> | undefined>;
}

const STATUS = ['status', 'round'] as const;

export function runStore(db: DynamoDb, table: string): RunStore {
  return {
    ...progressStore(db, table),
    ...journalStore(db, table),
    ...signalPlaceStore(db, table),
    async readStatus(key) {
      const get: GetInput = {
        TableName: table,
        Key: tableKey(key),
        ConsistentRead: true,
        ProjectionExpression: STATUS.map((attribute) => `#${attribute}`).join(', '),
        ExpressionAttributeNames: Object.fromEntries(STATUS.map((attribute) => [`#${attribute}`, attribute])),
      };
      return (await db.get(get)).Item as Pick<TaskRecord, (typeof STATUS)[number]> | undefined;
    },
  };
}

/** Adds the writer to an event. A `created` event needs none. */
const writtenBy = (by: Writer) => (event: TaskEvent) => (event.what === 'created' ? event : { ...event, by });

/** @param by who writes, for the events of the records. @default not said */
export function taskStore(db: DynamoDb, table: string, by?: Writer): TaskStore {
  const update = (key: TaskKey, change: Change, ReturnValues: 'ALL_NEW' | 'NONE') =>
    ifConditionHolds(
      db.update({ TableName: table, Key: tableKey(key), ...updateExpression(change, key.taskId, by), ReturnValues }),
    );
  async function read(key: TaskKey): Promise<TaskRecord | undefined> {
    const { Item } = await db.get({ TableName: table, Key: tableKey(key), ConsistentRead: true });
    return Item && known(Item);
  }
  async function getMany(keys: readonly TaskKey[], ConsistentRead: boolean): Promise<TaskRecord[]> {
    const found: TaskRecord[] = [];
    let rest: Record<string, unknown>[] = keys.map(tableKey);
    // A batch may leave keys out (16 MB, throttling). Read them again, and give up after five reads without progress.
    for (let idle = 0; rest.length > 0 && idle < 5; idle++) {
      const got = await db.batchGet({ RequestItems: { [table]: { Keys: rest, ConsistentRead } } });
      const some = got.Responses?.[table] ?? [];
      if (some.length > 0) idle = 0;
      found.push(...recordsIn(some));
      rest = got.UnprocessedKeys?.[table]?.Keys ?? [];
    }
    if (rest.length > 0) throw new Unavailable();
    return found;
  }

  return {
    ...runStore(db, table),
    ...sessionStore(db, table),
    ...openTaskSlotStore(db, table),
    ...streamCountStore(db, table),
    async create(record) {
      const put: PutInput = {
        TableName: table,
        Item: {
          ...itemOf(record),
          [SHARD]: statusShard(record.status, record.taskId),
          ...(by && { events: record.events.map(writtenBy(by)) }),
        },
        ConditionExpression: 'attribute_not_exists(#taskId)',
        ExpressionAttributeNames: { '#taskId': KEY.sort },
      };
      return (await ifConditionHolds(db.put(put))) !== undefined;
    },
    async get(key, more) {
      if (!more?.report) return read(key);
      // Both at once: a read of the second after the first would double the time.
      const [record, item] = await Promise.all([read(key), readProgress(db, table, key)]);
      return record && withProgress(record, item);
    },
    getMany: (keys) => getMany(keys, true),
    readMany: async (keys) => withAllProgress(db, table, await getMany(keys, false)),
    withReports: (records) => withAllProgress(db, table, records),
    async list(owner, limit, after) {
      const page = await db.query({
        TableName: table,
        KeyConditionExpression: '#owner = :owner AND #taskId > :first',
        ExpressionAttributeNames: { '#owner': KEY.partition, '#taskId': KEY.sort },
        ExpressionAttributeValues: { ':owner': owner, ':first': BEFORE_TASKS },
        ConsistentRead: true,
        ScanIndexForward: false,
        Limit: limit,
        ...(after !== undefined && { ExclusiveStartKey: tableKey({ owner, taskId: after }) }),
      });
      const last: unknown = page.LastEvaluatedKey?.[KEY.sort];
      const tasks = await withAllProgress(db, table, recordsIn(page.Items ?? []));
      return { tasks, ...(typeof last === 'string' && { last }) };
    },
    async apply(key, change) {
      const written = (await update(key, change, 'ALL_NEW'))?.Attributes;
      return written && known(written);
    },
    async applyBlind(key, change) {
      return (await update(key, change, 'NONE')) !== undefined;
    },
    async postpone(key, now, later) {
      const move: UpdateInput = {
        TableName: table,
        Key: tableKey(key),
        ConditionExpression: 'attribute_exists(#due) AND #dueAt <= :now',
        UpdateExpression: 'SET #dueAt = :later',
        ExpressionAttributeNames: { '#due': 'due', '#dueAt': 'dueAt' },
        ExpressionAttributeValues: { ':now': now, ':later': later },
      };
      await ifConditionHolds(db.update(move));
    },
  };
}

const SHARD = INDEXES.status.partition;
/** Those that this release understands. */
const recordsIn = (items: readonly Readonly<Record<string, unknown>>[]): TaskRecord[] =>
  items.flatMap((item) => recordIn(item) ?? []);

const clause = (keyword: string, parts: readonly string[]): string =>
  parts.length === 0 ? '' : `${keyword} ${parts.join(', ')}`;

/** Exported for its test. */
export function updateExpression(change: Change, taskId: string, by?: Writer) {
  const names: Record<string, string> = { '#status': 'status' };
  const values: Record<string, unknown> = {};
  const name = (attribute: string) => {
    names[`#${attribute}`] = attribute;
    return `#${attribute}`;
  };
  const value = (id: string, v: unknown) => {
    values[`:${id}`] = v;
    return `:${id}`;
  };

  const conditions = [`#status IN (${change.from.map((status, i) => value(`from${i}`, status)).join(', ')})`];
  if (change.round !== undefined) conditions.push(`${name('round')} = ${value('inRound', change.round)}`);
  if (change.answerCount !== undefined) {
    conditions.push(`size(${name('inputResponses')}) = ${value('answerCount', change.answerCount)}`);
  }
  if (change.inputRef === null) conditions.push(`attribute_not_exists(${name('inputRef')})`);
  else if (change.inputRef !== undefined) conditions.push(`${name('inputRef')} = ${value('inInput', change.inputRef)}`);
  if (change.dueAt !== undefined) conditions.push(`${name('dueAt')} = ${value('inDueAt', change.dueAt)}`);
  if (change.updatedAt !== undefined) conditions.push(`${name('updatedAt')} = ${value('seenAt', change.updatedAt)}`);

  const { status } = change.set;
  const set = status === undefined ? change.set : { ...change.set, [SHARD]: statusShard(status, taskId) };
  const sets = Object.entries(set).map(([field, v]) => `${name(field)} = ${value(field, v)}`);
  if (change.event !== undefined) {
    const event = value('event', [{ ...change.event, ...(by && { by }) }]);
    sets.push(`${name('events')} = list_append(${name('events')}, ${event})`);
  }
  const removes = (change.remove ?? []).filter((field) => !(field in change.set)).map(name);
  return {
    ConditionExpression: conditions.join(' AND '),
    UpdateExpression: [clause('SET', sets), clause('REMOVE', removes)].join(' ').trim(),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  };
}
