import {
  EVENTS_PARTITION,
  KEY,
  LOG_PARTITION,
  MATCHED,
  NEW_PARTITION,
  SECOND_NEW_PARTITION,
  SORT_KEYS,
  tableKey,
} from '../../attributes.ts';
import type { DynamoDb, PutInput, QueryInput } from '../../aws/dynamodb.ts';
import { DAY, limits } from '../../limits.ts';
import { ifConditionHolds } from '../conditional-write.ts';
import {
  type FannedOut,
  type LogEntry,
  type LogHead,
  type NewEvent,
  type NewIn,
  type PlacedEntry,
  positionText,
} from './log.ts';
import type {
  Begun,
  FirstEvents,
  Matched,
  MatchedSubscription,
  NewSubscription,
  StoredSubscription,
  Taken,
} from './subscription.ts';

/**
 * The items of MCP Events: in a partition for each owner its subscriptions, their URLs, and when the owner was seen last; in another
 * one its log; in a third one its events that are not in the log yet, and how far the log is fanned out; in a fourth one events that
 * the third one refused. `functions/events` says what they mean. Each read is strongly consistent. Times are in ms since the epoch, but `expiresAt`.
 */
export interface EventItems {
  /** Undefined: nothing of the owner listens, or ever did. */
  head(owner: string): Promise<LogHead | undefined>;
  /** Makes the head if there is none. */
  createHead(owner: string, last: number, expiresAt: number): Promise<void>;
  keepHead(owner: string, expiresAt: number): Promise<void>;
  /** Gives the pending entries the positions after `last`. False if that is not the last one any more. */
  advance(owner: string, last: number, head: LogHead): Promise<boolean>;
  putEntry(owner: string, position: number, entry: LogEntry, expiresAt: number): Promise<void>;
  entry(owner: string, position: number): Promise<LogEntry | undefined>;
  /** Entries after a position, in order: as many, or a megabyte of them. */
  entries(owner: string, after: number, most: number): Promise<readonly PlacedEntry[]>;
  subscription(owner: string, id: string): Promise<StoredSubscription | undefined>;
  /** Where a subscription goes. Its id is made of the URL, too, so no other URL is ever here. */
  url(owner: string, id: string): Promise<string | undefined>;
  /** Keeps the URL for as long as a subscription may be granted now. */
  keepUrl(owner: string, id: string, url: string, now: number): Promise<void>;
  /** All of the owner, without their secrets. Their URLs lie apart, as each event and each new subscription reads all of them. */
  matched(owner: string): Promise<readonly MatchedSubscription[]>;
  /** Keeps its URL first. False if there is a live one. */
  createSubscription(owner: string, subscription: NewSubscription, now: number): Promise<boolean>;
  /** Sets these attributes, if the subscription still lives now. */
  changeSubscription(owner: string, to: Begun, set: Partial<StoredSubscription>, now: number): Promise<boolean>;
  /** Deletes it: else each event reads it, too. With `lapsedBy` only if it has lapsed by then. False: it is gone, or has not lapsed. */
  endSubscription(owner: string, to: Begun, lapsedBy?: number): Promise<boolean>;
  /*
   * Each of these three moves one thing forward, never back, and returns the subscription as it is then. Undefined: it is not
   * there any more. All that says whether a message is under way is in this one item, so these writes are in one order.
   */
  /** Notes that the log has its start, and between which positions its first events are. */
  start(owner: string, to: Begun, from: FirstEvents): Promise<StoredSubscription | undefined>;
  /** Moves `lastMatched`: the entry at `last` is for it, and the first one after `from`, too. A repeat has the same `from`. */
  match(owner: string, to: MatchedSubscription, its: Matched): Promise<StoredSubscription | undefined>;
  /** Moves `deliveredTo`. @param taken undefined: it was not delivered */
  delivered(owner: string, to: Begun, position: string, taken?: Taken): Promise<StoredSubscription | undefined>;
  failed(owner: string, to: Begun, error: string, at: number): Promise<void>;
  /** A repeat is the same item. */
  putNew(owner: string, event: NewEvent, expiresAt: number, into: NewIn): Promise<void>;
  /** The first ones of a partition, in order. */
  newEvents(owner: string, most: number, of: NewIn): Promise<readonly NewEvent[]>;
  deleteNew(owner: string, place: string, from: NewIn): Promise<void>;
  /** Undefined: nothing of the owner listens, or ever did. */
  fannedOut(owner: string): Promise<FannedOut | undefined>;
  /** Makes it, or keeps it longer. */
  keepFannedOut(owner: string, expiresAt: number): Promise<void>;
  /** Moves it forward, and sets the turn if one is given. Makes none: nothing of that owner listens. */
  noteFannedOut(owner: string, to: { readonly last: number; readonly turn?: string }, expiresAt: number): Promise<void>;
  seen(owner: string): Promise<number | undefined>;
  noteSeen(owner: string, at: number, expiresAt: number): Promise<void>;
}

/** What a write has beside its key or item: the names in its expressions are names of attributes, the values are these. */
function given(values: object, ConditionExpression: string, UpdateExpression?: string) {
  const names = [...`${ConditionExpression} ${UpdateExpression}`.matchAll(/#(\w+)/g)];
  return {
    ConditionExpression,
    ...(UpdateExpression !== undefined && { UpdateExpression }),
    ExpressionAttributeNames: Object.fromEntries(names),
    ExpressionAttributeValues: Object.fromEntries(Object.entries(values).map(([name, value]) => [`:${name}`, value])),
  };
}
const setting = (values: object) =>
  `SET ${Object.keys(values)
    .map((name) => `#${name} = :${name}`)
    .join(', ')}`;
/** Longer than any grant. In seconds since the epoch. */
const keptUntil = (now: number): number => Math.ceil((now + limits.mcpEvents.ttl.max + DAY) / 1_000);
const NEW_PARTITIONS: Readonly<Record<NewIn, string>> = { first: NEW_PARTITION, second: SECOND_NEW_PARTITION };
const IS_NEW = `attribute_not_exists(${KEY.sort})`;
const MATCHED_NAMES = Object.fromEntries(MATCHED.map((attribute) => [`#${attribute}`, attribute]));

export function eventItems(db: DynamoDb, table: string): EventItems {
  const keyOf = (owner: string, taskId: string) => tableKey({ owner: EVENTS_PARTITION + owner, taskId });
  const logKey = (owner: string, taskId: string) => tableKey({ owner: LOG_PARTITION + owner, taskId });
  const entryKey = (owner: string, position: number) => logKey(owner, SORT_KEYS.event + positionText(position));
  const newKey = (owner: string, taskId: string, of: NewIn = 'first') =>
    tableKey({ owner: NEW_PARTITIONS[of] + owner, taskId });
  const get = async (Key: ReturnType<typeof keyOf>) =>
    (await db.get({ TableName: table, Key, ConsistentRead: true })).Item;
  const urlKey = (owner: string, id: string) => keyOf(owner, SORT_KEYS.url + id);
  const put = async (item: PutInput['Item'], more: Partial<PutInput> = {}) =>
    (await ifConditionHolds(db.put({ TableName: table, Item: item, ...more }))) !== undefined;
  const update = (key: ReturnType<typeof keyOf>, more: ReturnType<typeof given>, ReturnValues: 'NONE' | 'ALL_NEW') =>
    ifConditionHolds(db.update({ TableName: table, Key: key, ReturnValues, ...more }));
  async function keepUrl(owner: string, id: string, url: string, now: number): Promise<void> {
    await put({ ...urlKey(owner, id), url, expiresAt: keptUntil(now) });
  }
  /** Items of a partition in the order of their sort keys, from `first` on, which all begin with `prefix`. */
  async function pageOf(partition: string, prefix: string, first: string, most: number) {
    const { Items = [] } = await db.query({
      TableName: table,
      KeyConditionExpression: '#owner = :owner AND #sort BETWEEN :first AND :last',
      ExpressionAttributeNames: { '#owner': KEY.partition, '#sort': KEY.sort },
      ExpressionAttributeValues: { ':owner': partition, ':first': prefix + first, ':last': `${prefix}~` },
      ConsistentRead: true,
      Limit: most,
    });
    return Items.map((item) => ({ item: withoutKey(item), name: String(item[KEY.sort]).slice(prefix.length) }));
  }
  /** A write on a condition, and the item after it, or as it is if the condition does not hold. */
  async function move(owner: string, { id, createdAt }: Begun, values: object, condition: string, set: string) {
    const key = keyOf(owner, SORT_KEYS.subscription + id);
    const more = given({ createdAt, ...values }, `#createdAt = :createdAt AND ${condition}`, set);
    const moved = await update(key, more, 'ALL_NEW');
    const item = moved === undefined ? await get(key) : moved.Attributes;
    if (item?.createdAt !== createdAt) return undefined;
    return { ...withoutKey(item), id } as unknown as StoredSubscription;
  }

  return {
    async head(owner) {
      const item = await get(logKey(owner, SORT_KEYS.eventHead));
      return item && (withoutKey(item) as unknown as LogHead);
    },
    async createHead(owner, last, expiresAt) {
      const ConditionExpression = IS_NEW;
      await put({ ...logKey(owner, SORT_KEYS.eventHead), last, recent: [], expiresAt }, { ConditionExpression });
    },
    async keepHead(owner, expiresAt) {
      const isOlder = '#expiresAt < :expiresAt';
      const more = given({ expiresAt }, isOlder, 'SET #expiresAt = :expiresAt');
      await update(logKey(owner, SORT_KEYS.eventHead), more, 'NONE');
    },
    advance: (owner, last, head) =>
      put({ ...logKey(owner, SORT_KEYS.eventHead), ...head }, given({ last }, '#last = :last')),
    async putEntry(owner, position, entry, expiresAt) {
      await put({ ...entryKey(owner, position), ...entry, expiresAt });
    },
    async entry(owner, position) {
      const item = await get(entryKey(owner, position));
      return item && (withoutKey(item) as unknown as LogEntry);
    },
    async entries(owner, after, most) {
      const page = await pageOf(LOG_PARTITION + owner, SORT_KEYS.event, positionText(after + 1), most);
      return page.map(({ item, name }) => ({ ...(item as unknown as LogEntry), position: Number(name) }));
    },
    async subscription(owner, id) {
      const item = await get(keyOf(owner, SORT_KEYS.subscription + id));
      return item && ({ ...withoutKey(item), id } as unknown as StoredSubscription);
    },
    url: async (owner, id) => (await get(urlKey(owner, id)))?.url as string | undefined,
    keepUrl,
    async matched(owner) {
      const query: QueryInput = {
        TableName: table,
        KeyConditionExpression: '#owner = :owner AND begins_with(#sort, :subscriptions)',
        ProjectionExpression: ['#sort', ...Object.keys(MATCHED_NAMES)].join(', '),
        ExpressionAttributeNames: { ...MATCHED_NAMES, '#owner': KEY.partition, '#sort': KEY.sort },
        ExpressionAttributeValues: { ':owner': EVENTS_PARTITION + owner, ':subscriptions': SORT_KEYS.subscription },
        ConsistentRead: true,
      };
      return subscriptionsIn<MatchedSubscription>(db, query);
    },
    async createSubscription(owner, { id, url, ...subscription }, now) {
      await keepUrl(owner, id, url, now);
      return put(
        { ...keyOf(owner, SORT_KEYS.subscription + id), ...subscription },
        given({ now }, `${IS_NEW} OR #refreshBefore <= :now`),
      );
    },
    async changeSubscription(owner, { id, createdAt }, set, now) {
      const lives = '#createdAt = :createdAt AND #refreshBefore > :now';
      const more = given({ createdAt, now, ...set }, lives, setting(set));
      return (await update(keyOf(owner, SORT_KEYS.subscription + id), more, 'NONE')) !== undefined;
    },
    endSubscription: async (owner, { id, createdAt }, lapsedBy) => {
      const Key = keyOf(owner, SORT_KEYS.subscription + id);
      const hasLapsed = lapsedBy === undefined ? '' : ' AND #refreshBefore <= :lapsedBy';
      const more = given({ createdAt, ...(lapsedBy && { lapsedBy }) }, `#createdAt = :createdAt${hasLapsed}`);
      return (await ifConditionHolds(db.delete({ TableName: table, Key, ...more }))) !== undefined;
    },
    start: (owner, to, from) => move(owner, to, from, 'attribute_not_exists(#started)', setting(from)),
    match(owner, to, { from, last }) {
      const isRepeat = to.matchedFrom === from;
      const before = isRepeat ? '' : '#matchedBefore = #lastMatched, #matchedFrom = :from, ';
      const values = { last, ...(!isRepeat && { from }) };
      return move(owner, to, values, '#lastMatched < :last', `SET ${before}#lastMatched = :last`);
    },
    delivered(owner, to, position, { at, answered, slowUntil } = {}) {
      const values = { position, ...(at !== undefined && { at }), ...(slowUntil !== undefined && { slowUntil }) };
      const rests = slowUntil === undefined ? '' : ', #slowUntil = :slowUntil';
      const rested = slowUntil === undefined ? ', #slowUntil' : '';
      const taken = at === undefined ? '' : ', #lastDeliveryAt = :at';
      const over = answered ? ` REMOVE #failedSince, #lastError${rested}` : '';
      return move(owner, to, values, '#deliveredTo < :position', `SET #deliveredTo = :position${rests}${taken}${over}`);
    },
    async failed(owner, { id, createdAt }, error, at) {
      const set = 'SET #lastError = :error, #triedAt = :at, #failedSince = if_not_exists(#failedSince, :at)';
      const more = given({ createdAt, error, at }, '#createdAt = :createdAt', set);
      await update(keyOf(owner, SORT_KEYS.subscription + id), more, 'NONE');
    },
    async putNew(owner, { place, ...event }, expiresAt, into) {
      await put({ ...newKey(owner, SORT_KEYS.newEvent + place, into), ...event, expiresAt });
    },
    async newEvents(owner, most, of) {
      const page = await pageOf(NEW_PARTITIONS[of] + owner, SORT_KEYS.newEvent, '', most);
      return page.map(({ item: { expiresAt: _e, ...event }, name }) => ({
        ...(event as Omit<NewEvent, 'place'>),
        place: name,
      }));
    },
    async deleteNew(owner, place, from) {
      await db.delete({ TableName: table, Key: newKey(owner, SORT_KEYS.newEvent + place, from) });
    },
    async fannedOut(owner) {
      const { last = 0, turn = '', expiresAt } = (await get(newKey(owner, SORT_KEYS.fannedOut))) ?? {};
      return expiresAt === undefined ? undefined : { last: Number(last), turn: String(turn) };
    },
    async keepFannedOut(owner, expiresAt) {
      const isOlder = `${IS_NEW} OR #expiresAt < :expiresAt`;
      await update(newKey(owner, SORT_KEYS.fannedOut), given({ expiresAt }, isOlder, setting({ expiresAt })), 'NONE');
    },
    async noteFannedOut(owner, to, expiresAt) {
      const values = { ...to, expiresAt };
      const isForward = 'attribute_exists(#expiresAt) AND (attribute_not_exists(#last) OR #last <= :last)';
      const more = given(values, isForward, setting(values));
      await update(newKey(owner, SORT_KEYS.fannedOut), more, 'NONE');
    },
    seen: async (owner) => (await get(keyOf(owner, SORT_KEYS.seen)))?.at as number | undefined,
    async noteSeen(owner, at, expiresAt) {
      await put({ ...keyOf(owner, SORT_KEYS.seen), at, expiresAt });
    },
  };
}

/** All subscriptions that a query finds, page by page, with their ids, which are in their keys. */
export async function subscriptionsIn<T>(db: DynamoDb, query: QueryInput): Promise<readonly T[]> {
  const { Items = [], LastEvaluatedKey: next } = await db.query(query);
  const idOf = (sort: unknown) => String(sort).slice(SORT_KEYS.subscription.length);
  const found = Items.map(({ [KEY.sort]: sort, ...item }) => ({ ...item, id: idOf(sort) }) as T);
  return next === undefined
    ? found
    : [...found, ...(await subscriptionsIn<T>(db, { ...query, ExclusiveStartKey: next }))];
}

const withoutKey = ({ [KEY.partition]: _o, [KEY.sort]: _t, ...item }: Readonly<Record<string, unknown>>) => item;
