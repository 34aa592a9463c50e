import { createRequire } from 'node:module';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { INDEXES, KEY } from '../../../functions/tasks/attributes.ts';
import { loadDatabase, mapSize } from '../../../local/testing.ts';
import { type Expressions, parse } from './expressions.ts';
import type { AttributeValue, Item } from './values.ts';

const load = createRequire(import.meta.url);
// First: its actions use it.
const db = loadDatabase(load) as typeof import('dynalite/db/index.js');
const putItem: typeof import('dynalite/actions/putItem.js') = load('dynalite/actions/putItem.js');
const deleteItem: typeof import('dynalite/actions/deleteItem.js') = load('dynalite/actions/deleteItem.js');
const updateItem: typeof import('dynalite/actions/updateItem.js') = load('dynalite/actions/updateItem.js');

/** One write of an item, as it was carried out. */
export interface Written {
  readonly key: string;
  readonly before: Item | undefined;
  readonly after: Item;
}

export interface Update extends Expressions {
  readonly Key: Item;
}

export interface Put extends Expressions {
  readonly Item: Item;
}

export interface Query extends Expressions {
  readonly IndexName?: string | undefined;
  readonly ScanIndexForward?: boolean | undefined;
  readonly Limit?: number | undefined;
  readonly ExclusiveStartKey?: Item | undefined;
}

/**
 * The tasks table in memory, with its indexes. What an expression means is dynalite's word, as in the embedded cloud,
 * only without HTTP, JSON and a database in between. Requests as DynamoDB takes them, carried out at once.
 */
export interface Table {
  get(key: Item, expressions: Expressions, stale: boolean): Item | undefined;
  /** Answers the item after. Throws ConditionalCheckFailedException. */
  put(request: Put): void;
  update(request: Update): Item;
  /** Throws ConditionalCheckFailedException. */
  deleteIf(request: Update): void;
  query(request: Query, stale: boolean): { readonly items: Item[]; readonly last: Item | undefined };
  items(): Iterable<Item>;
  /** What only a test does. */
  delete(key: Item): void;
}

interface Versions {
  readonly after: Item;
  /** When it was written. */
  readonly at: number;
  /** What a read that is not consistent may still find; undefined: nothing. */
  readonly before: Item | undefined;
}

const KEYS = [KEY.partition, KEY.sort] as const;
const DESCRIPTION = {
  KeySchema: KEYS.map((AttributeName) => ({ AttributeName })),
  AttributeDefinitions: KEYS.map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
};
const LARGEST_ITEM = 400 * 1_024;
/** Of one page, in bytes. */
const LARGEST_PAGE = 1_024 * 1_024;

/** The keys of an index, those that make its order first, and all that it holds. */
function indexOf(name: string) {
  const index = Object.values(INDEXES).find((one) => one.name === name);
  if (index === undefined) throw new Error(`The table has no index ${name}`);
  const keys = [index.partition, index.sort, ...KEYS];
  return { sort: index.sort, keys, held: [...keys, ...('others' in index ? index.others : [])] };
}

/** How far behind a read may be that is not consistent, in ms. */
const BEHIND = 5_000;

export function createTable(now: () => number, written: (write: Written) => void): Table {
  const versions = new Map<string, Versions>();
  const seen = (item: Versions | undefined, stale: boolean) =>
    stale && item !== undefined && now() - item.at < BEHIND ? item.before : item?.after;
  const read = (key: string, stale: boolean) => seen(versions.get(key), stale);

  /** What dynalite's actions need of a database, for one item and without waiting. */
  const holding = (key: string) => {
    const before = read(key, false);
    const items = {
      lock: (_key: string, run: (release: <T>(done: T) => T) => void) => run((done) => done),
      get: (_key: string, done: (error: null, item: Item | undefined) => void) => done(null, before),
      put(_key: string, item: Item, done: (error: null) => void) {
        const after = copy(item);
        checkIndexKeys(after);
        versions.set(key, { after, at: now(), before });
        written({ key, before, after });
        done(null);
      },
      del(_key: string, done: (error: null) => void) {
        versions.delete(key);
        done(null);
      },
    };
    return {
      options: { maxItemSize: LARGEST_ITEM },
      getTable: (_name: string, done: (error: null, table: object) => void) => done(null, DESCRIPTION),
      getItemDb: () => items,
    };
  };

  return {
    get(key, expressions, stale) {
      const item = read(keyOf(key), stale);
      const paths = parse(expressions)._projection?.paths;
      return item === undefined || paths === undefined ? item : ({ ...db.mapPaths(paths, item) } as Item);
    },
    put(request) {
      if (mapSize(request.Item) > LARGEST_ITEM) {
        throw refused('ValidationException', 'Item size has exceeded the maximum allowed size');
      }
      run(putItem, holding(keyOf(request.Item)), { Item: request.Item, ...parse(request) });
    },
    update(request) {
      const asked = { Key: { ...request.Key }, ReturnValues: 'ALL_NEW', ...parse(request) };
      return copy((run(updateItem, holding(keyOf(request.Key)), asked) as { Attributes: Item }).Attributes);
    },
    deleteIf(request) {
      run(deleteItem, holding(keyOf(request.Key)), { Key: request.Key, ...parse(request) });
    },
    query(request, stale) {
      const { _keyCondition, _filter, _projection } = parse(request);
      const index = request.IndexName === undefined ? undefined : indexOf(request.IndexName);
      const { sort, keys } = index ?? { sort: KEY.sort, keys: KEYS };
      const found: Item[] = [];
      for (const version of versions.values()) {
        const item = seen(version, stale);
        if (item === undefined || keys.some((name) => item[name] === undefined)) continue;
        if (db.matchesExprFilter(item, _keyCondition?.expression ?? {})) found.push(item);
      }
      const direction = request.ScanIndexForward === false ? -1 : 1;
      const order = (a: Item, b: Item) => direction * (compare(a[sort], b[sort]) || compare(a[KEY.sort], b[KEY.sort]));
      found.sort(order);
      const { ExclusiveStartKey: after } = request;
      const rest = after === undefined ? found : found.filter((item) => order(item, after) > 0);
      const page = pageOf(rest, request.Limit);
      const shown = page.items
        .filter((item) => _filter === undefined || db.matchesExprFilter(item, _filter.expression))
        .map((item) => (index === undefined ? item : pick(item, index.held)))
        .map((item) => (_projection === undefined ? item : ({ ...db.mapPaths(_projection.paths, item) } as Item)));
      return { items: shown, last: page.last && pick(page.last, keys) };
    },
    *items() {
      for (const { after } of versions.values()) yield after;
    },
    delete: (key) => void versions.delete(keyOf(key)),
  };
}

/** DynamoDB refuses an item whose key of an index is empty or of another type. */
function checkIndexKeys(item: Item): void {
  for (const { partition, sort } of Object.values(INDEXES)) {
    const wrong = (name: string, type: string) => item[name] !== undefined && !item[name][type];
    if (wrong(partition, 'S') || wrong(sort, 'N')) {
      throw refused('ValidationException', 'One or more parameter values were invalid: Type mismatch for Index Key');
    }
  }
}

type Action = (store: object, request: object, done: (error: Error | null, answer?: object) => void) => void;

/** Nothing in it waits. */
function run(action: Action, store: object, request: object): object {
  let outcome: { error: Error | null; answer?: object | undefined } | undefined;
  action(store, { TableName: 'tasks', ...request }, (error, answer) => {
    outcome ??= { error, answer };
  });
  if (outcome === undefined) throw new Error('dynalite waits for something');
  if (outcome.error === null) return outcome.answer ?? {};
  const { __type = '' } = (outcome.error as { body?: { __type?: string } }).body ?? {};
  const { message } = outcome.error;
  if (__type.endsWith('ConditionalCheckFailedException')) {
    throw new ConditionalCheckFailedException({ message, $metadata: {} });
  }
  throw refused(__type.split('#').at(-1) ?? 'Error', message);
}

const refused = (name: string, message: string): Error => Object.assign(new Error(message), { name });

/** As many as one answer takes. `last`: where it stopped, if it was before the end or at the limit. */
function pageOf(items: readonly Item[], limit = Number.POSITIVE_INFINITY) {
  let bytes = 0;
  let count = 0;
  while (count < items.length && count < limit && bytes < LARGEST_PAGE) bytes += mapSize(items[count++] as Item);
  const stopped = count < items.length || count === limit;
  return { items: items.slice(0, count), last: stopped ? items[count - 1] : undefined };
}

const keyOf = (item: Item): string => KEYS.map((name) => item[name]?.S).join(' ');
const pick = (item: Item, names: readonly string[]): Item =>
  Object.fromEntries(names.flatMap((name) => (item[name] === undefined ? [] : [[name, item[name]]])));

function compare(a: AttributeValue | undefined, b: AttributeValue | undefined): number {
  if (a?.N !== undefined) return Number(a.N) - Number(b?.N);
  return String(a?.S) < String(b?.S) ? -1 : Number(String(a?.S) > String(b?.S));
}

/** dynalite puts values of the request into the item as they are. */
function copy<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copy) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, copy(inner)])) as T;
}
