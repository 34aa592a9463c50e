import { COUNTS_PARTITION, SORT_KEYS, tableKey } from '../attributes.ts';
import type { DynamoDb, UpdateInput } from '../aws/dynamodb.ts';
import { ifConditionHolds } from './conditional-write.ts';

/**
 * Bounds how many requests of an owner wait at once, how many of its calls are stored as refused, how many lists it sends, and how often
 * the states of its machines are read, in all containers.
 * One small item per owner and kind counts them by the window of time in which they began. A window is as long as a
 * request may wait, so requests from before the last window are over, even if their end was not counted. A retry of a
 * write that had succeeded counts twice until then.
 */
export interface StreamCountStore {
  /**
   * Undefined when the owner has `most` already. Costs a read unit, and a write unit unless it is refused. Times in ms
   * since the epoch.
   *
   * @param longest how long a stream can last, in ms
   */
  openStream(owner: string, most: number, now: number, longest: number): Promise<CountedStream | undefined>;
  closeStream(stream: CountedStream): Promise<void>;
  /** Counts a refused call. False when `most` were counted `within` the last ms. Costs the same as openStream. */
  countRefused(owner: string, most: number, now: number, within: number): Promise<boolean>;
  /** The same for a request that reads many tasks. */
  countList(owner: string, most: number, now: number, within: number): Promise<boolean>;
  /** The same for a read of the state of a machine. */
  countState(owner: string, most: number, now: number, within: number): Promise<boolean>;
}

export interface CountedStream {
  readonly owner: string;
  /** The begin of the window in which it was opened, in ms since the epoch. */
  readonly window: number;
}

/** A write fails when a new window has begun since the read, or when another request took the last stream. */
const ATTEMPTS = 3;
/** The attribute that counts the streams opened in a window. */
const countOf = (window: number): string => `n${window}`;

export function streamCountStore(db: DynamoDb, table: string): StreamCountStore {
  const streams = countByWindow(db, table, SORT_KEYS.streams);
  const refused = countByWindow(db, table, SORT_KEYS.refused);
  const lists = countByWindow(db, table, SORT_KEYS.lists);
  const states = countByWindow(db, table, SORT_KEYS.states);
  return {
    openStream: streams.open,
    closeStream: streams.close,
    countRefused: async (...call) => (await refused.open(...call)) !== undefined,
    countList: async (...call) => (await lists.open(...call)) !== undefined,
    countState: async (...call) => (await states.open(...call)) !== undefined,
  };
}

function countByWindow(db: DynamoDb, table: string, sortKey: string) {
  const keyOf = (owner: string) => ({
    TableName: table,
    Key: tableKey({ owner: COUNTS_PARTITION + owner, taskId: sortKey }),
  });

  async function add({ owner, window }: CountedStream, most: number): Promise<boolean> {
    const update: UpdateInput = {
      ...keyOf(owner),
      ConditionExpression: '#window = :window AND #held < :most',
      UpdateExpression: 'SET #held = #held + :one, #count = #count + :one',
      ExpressionAttributeNames: { '#window': 'window', '#held': 'held', '#count': countOf(window) },
      ExpressionAttributeValues: { ':window': window, ':most': most, ':one': 1 },
    };
    return (await ifConditionHolds(db.update(update))) !== undefined;
  }

  /** Begins a window with its first stream. Streams of the `last` window may still be open. */
  async function begin(
    { owner, window }: CountedStream,
    before: Readonly<Record<string, unknown>> | undefined,
    last: number | undefined,
    most: number,
    longest: number,
  ): Promise<boolean> {
    const counts = Object.keys(before ?? {}).filter((name) => /^n\d+$/.test(name));
    const old = counts.filter((name) => last === undefined || name !== countOf(last));
    const update: UpdateInput = {
      ...keyOf(owner),
      ConditionExpression:
        (before === undefined ? 'attribute_not_exists(#window)' : '#window = :before') +
        (last === undefined ? '' : ' AND #last < :most'),
      UpdateExpression:
        `SET #window = :window, #held = ${last === undefined ? ':one' : '#last + :one'}, #count = :one, ` +
        `#expiresAt = :expiresAt${old.length === 0 ? '' : ` REMOVE ${old.map((_, i) => `#old${i}`).join(', ')}`}`,
      ExpressionAttributeNames: {
        '#window': 'window',
        '#held': 'held',
        '#expiresAt': 'expiresAt',
        '#count': countOf(window),
        ...(last !== undefined && { '#last': countOf(last) }),
        ...Object.fromEntries(old.map((name, i) => [`#old${i}`, name])),
      },
      ExpressionAttributeValues: {
        ':window': window,
        ':one': 1,
        ':expiresAt': Math.ceil((window + 3 * longest) / 1_000),
        ...(before !== undefined && { ':before': before.window }),
        ...(last !== undefined && { ':most': most }),
      },
    };
    return (await ifConditionHolds(db.update(update))) !== undefined;
  }

  return {
    async open(owner: string, most: number, now: number, longest: number): Promise<CountedStream | undefined> {
      const own = Math.floor(now / longest) * longest;
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const { Item } = await db.get({ ...keyOf(owner), ConsistentRead: true });
        // The clock of another container may be ahead.
        const stream = { owner, window: Math.max(own, Number(Item?.window ?? 0)) };
        if (stream.window === Item?.window) {
          if (Item.held >= most) return undefined;
          if (await add(stream, most)) return stream;
        } else {
          const last = Item !== undefined && stream.window - Item.window <= longest ? Item.window : undefined;
          if (last !== undefined && Item?.[countOf(last)] >= most) return undefined;
          if (await begin(stream, Item, last, most, longest)) return stream;
        }
      }
      return undefined;
    },
    async close({ owner, window }: CountedStream): Promise<void> {
      const update: UpdateInput = {
        ...keyOf(owner),
        // Without the attribute, the stream no longer counts.
        ConditionExpression: '#count > :none',
        UpdateExpression: 'SET #held = #held - :one, #count = #count - :one',
        ExpressionAttributeNames: { '#held': 'held', '#count': countOf(window) },
        ExpressionAttributeValues: { ':one': 1, ':none': 0 },
      };
      await ifConditionHolds(db.update(update));
    },
  };
}
