import { BEFORE_TASKS, fieldsIn, INDEXED, INDEXES, KEY, PAYLOAD, SHOWN, tableKey } from '../attributes.ts';
import type { DynamoDb, QueryInput } from '../aws/dynamodb.ts';
import { Unavailable } from '../errors.ts';
import type { Status, TaskKey } from '../record.ts';
import { runItemKey } from './run-items.ts';
import { statusShard, statusShards } from './status-index.ts';

/** An item as it is stored. It may be one that this release does not understand. */
export type StoredTask = TaskKey & Readonly<Record<string, unknown>>;

/** What the index `status` holds of a task. */
export interface IndexedTask extends TaskKey {
  readonly status: Status;
  readonly tool: string;
  /** In ms since the epoch, as `deadlineAt`. */
  readonly createdAt: number;
  readonly deadlineAt: number;
}

/** Where the next page begins. It comes from the page before. */
export type PageKey = Readonly<Record<string, unknown>>;

/** Which tasks a list shows. Times in ms since the epoch, both bounds included. */
export interface Selection {
  readonly tool?: string;
  readonly createdFrom?: number;
  readonly createdUntil?: number;
  readonly deadlineUntil?: number;
}

/** How operators read tasks. Reads name their attributes: the policy of operators allows no others. */
export interface OperatorReads {
  /**
   * Tasks in one status: of each partition of the index at most `limit`, the newest first. All that were created after
   * `next.createdUntil` are among them, and perhaps some of that millisecond; older ones are not. Without `next` there are
   * no more. The index may be a moment behind its table.
   *
   * @param taskId reads only the partition of this id
   */
  inStatus(
    status: Status,
    selection: Selection,
    limit: number,
    taskId?: string,
  ): Promise<{ readonly tasks: readonly IndexedTask[]; readonly next?: { readonly createdUntil: number } }>;
  /** One page of the tasks of one owner, the newest first. Strongly consistent. */
  ofOwner(
    owner: string,
    selection: Selection & { readonly statuses?: readonly Status[] },
    limit: number,
    from?: PageKey,
  ): Promise<{ readonly tasks: readonly StoredTask[]; readonly next?: PageKey }>;
  /** The tasks among up to 100 that exist, in one batch if it leaves none out. Throws Unavailable if some cannot be read. */
  getMany(keys: readonly TaskKey[]): Promise<readonly StoredTask[]>;
  /** Strongly consistent. `payload`: with the attributes that need the right to payloads. */
  get(key: TaskKey, payload: boolean): Promise<StoredTask | undefined>;
  /** What the run of a task reported last; its message only with `payload`. */
  progress(key: TaskKey, payload: boolean): Promise<Report | undefined>;
  /** The same of up to 100 tasks, by task id, in one batch: half a read unit for each. A report that it leaves out is missing. */
  progressOfMany(keys: readonly TaskKey[], payload: boolean): Promise<ReadonlyMap<string, Report>>;
}

/** A progress item. A tool writes it. */
export type Report = Readonly<Record<string, unknown>>;

const storedIn = (item: Readonly<Record<string, unknown>>) => fieldsIn(item) as StoredTask;

export function operatorReads(db: DynamoDb, table: string): OperatorReads {
  async function query(input: Omit<QueryInput, 'TableName'>, attributes: readonly string[], names: Names) {
    const { Items = [], LastEvaluatedKey: next } = await db.query({
      TableName: table,
      ...input,
      ...projection(attributes, names),
    });
    return { items: Items, ...(next !== undefined && { next }) };
  }

  return {
    async inStatus(status, selection, limit, taskId) {
      const { createdFrom = 0, createdUntil = Number.MAX_SAFE_INTEGER } = selection;
      const { filter, values } = filterExpression(selection, ['tool', 'deadlineAt']);
      const { name: IndexName, partition } = INDEXES.status;
      const pages = await Promise.all(
        (taskId === undefined ? statusShards(status) : [statusShard(status, taskId)]).map((shard) => {
          const page = {
            IndexName,
            KeyConditionExpression: `#${partition} = :shard AND #createdAt BETWEEN :from AND :until`,
            ...filter,
            ExpressionAttributeValues: { ':shard': shard, ':from': createdFrom, ':until': createdUntil, ...values },
            ScanIndexForward: false,
            Limit: limit,
          };
          return query(page, INDEXED, [partition]);
        }),
      );
      const stopped = pages.flatMap(({ next }) => (next === undefined ? [] : Number(next.createdAt)));
      const last = Math.max(0, ...stopped);
      const tasks = (pages.flatMap(({ items }) => items.map(storedIn)) as unknown as IndexedTask[]).filter(
        ({ createdAt }) => createdAt >= last,
      );
      return { tasks, ...(stopped.length > 0 && { next: { createdUntil: last } }) };
    },
    async ofOwner(owner, selection, limit, from) {
      const { filter, values } = filterExpression(selection, ['tool', 'deadlineAt', 'createdAt', 'status']);
      const { items, next } = await query(
        {
          KeyConditionExpression: `#${KEY.partition} = :owner AND #${KEY.sort} > :first`,
          ...filter,
          // The sort keys of other items begin with #.
          ExpressionAttributeValues: { ':owner': owner, ':first': BEFORE_TASKS, ...values },
          ConsistentRead: true,
          ScanIndexForward: false,
          Limit: limit,
          ...(from && { ExclusiveStartKey: from }),
        },
        SHOWN,
        [],
      );
      return { tasks: items.map(storedIn), ...(next && { next }) };
    },
    async getMany(keys) {
      if (keys.length === 0) return [];
      const found: StoredTask[] = [];
      let rest: Record<string, unknown>[] = keys.map(tableKey);
      // As TaskStore.getMany: a batch may leave keys out.
      for (let idle = 0; rest.length > 0 && idle < 5; idle++) {
        const got = await db.batchGet({ RequestItems: { [table]: { Keys: rest, ...projection(SHOWN, []) } } });
        const some = (got.Responses?.[table] ?? []).map(storedIn);
        if (some.length > 0) idle = 0;
        found.push(...some);
        rest = got.UnprocessedKeys?.[table]?.Keys ?? [];
      }
      if (rest.length > 0) throw new Unavailable();
      return found;
    },
    async get(key, payload) {
      const attributes = payload ? [...SHOWN, ...PAYLOAD] : SHOWN;
      const { items } = await query({ ...oneItem(key), ConsistentRead: true }, attributes, []);
      return items.map(storedIn)[0];
    },
    async progressOfMany(keys, payload) {
      if (keys.length === 0) return new Map();
      const Keys = keys.map((key) => tableKey(runItemKey(key)));
      const attributes = [KEY.sort, ...reported(payload)];
      const got = await db.batchGet({ RequestItems: { [table]: { Keys, ...projection(attributes, []) } } });
      return new Map((got.Responses?.[table] ?? []).map((item) => [String(item[KEY.sort]), item]));
    },
    async progress(key, payload) {
      const { items } = await query(oneItem(runItemKey(key)), reported(payload), Object.values(KEY));
      return items[0];
    },
  };
}

const oneItem = ({ owner, taskId }: TaskKey) => ({
  KeyConditionExpression: `#${KEY.partition} = :owner AND #${KEY.sort} = :taskId`,
  ExpressionAttributeValues: { ':owner': owner, ':taskId': taskId },
});

type Names = readonly string[];
const reported = (payload: boolean): Names => [
  ...['round', 'updatedAt', 'progress', 'progressTotal'],
  ...(payload ? ['statusMessage'] : []),
];

/** `names`: attributes that an expression names, beside those that are read. */
function projection(attributes: readonly string[], names: Names) {
  return {
    ProjectionExpression: attributes.map((attribute) => `#${attribute}`).join(', '),
    ExpressionAttributeNames: Object.fromEntries(
      [...attributes, ...names].map((attribute) => [`#${attribute}`, attribute]),
    ),
  };
}

/** Makes a filter of the conditions on attributes that are not keys. */
function filterExpression(
  { tool, deadlineUntil, createdFrom, createdUntil, statuses }: Selection & { readonly statuses?: readonly Status[] },
  filtered: readonly string[],
) {
  const conditions: [attribute: string, condition: string, values: Readonly<Record<string, unknown>>][] = [];
  if (tool !== undefined) conditions.push(['tool', '#tool = :tool', { ':tool': tool }]);
  if (deadlineUntil !== undefined)
    conditions.push(['deadlineAt', '#deadlineAt <= :deadlineUntil', { ':deadlineUntil': deadlineUntil }]);
  if (createdFrom !== undefined)
    conditions.push(['createdAt', '#createdAt >= :createdFrom', { ':createdFrom': createdFrom }]);
  if (createdUntil !== undefined)
    conditions.push(['createdAt', '#createdAt <= :createdUntil', { ':createdUntil': createdUntil }]);
  if (statuses !== undefined) {
    const each = Object.fromEntries(statuses.map((status, i) => [`:status${i}`, status]));
    conditions.push(['status', `#status IN (${Object.keys(each).join(', ')})`, each]);
  }
  const used = conditions.filter(([attribute]) => filtered.includes(attribute));
  return {
    filter: used.length === 0 ? {} : { FilterExpression: used.map(([, condition]) => condition).join(' AND ') },
    values: Object.assign({}, ...used.map(([, , each]) => each)) as Record<string, unknown>,
  };
}
