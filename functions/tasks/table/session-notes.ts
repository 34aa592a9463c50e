import { KEY, SORT_KEYS, tableKey } from '../attributes.ts';
import type { DynamoDb, PutInput } from '../aws/dynamodb.ts';
import { Unavailable } from '../errors.ts';
import { ifConditionHolds } from './conditional-write.ts';

/**
 * What the server must know of a 2025-11-25 session from one request to the next: one small item in the partition of
 * the session (`session`, from `sessionPartition`). Its sort key begins with `#`, so no list of tasks shows it.
 */
export interface SessionStore {
  session(session: string): Promise<SessionNotes>;
  /**
   * Writes what `change` makes of the notes. Reads them again if another request changed them. Undefined leaves them
   * unchanged. `expiresAt` in seconds since the epoch. Returns the notes after the change. Throws Unavailable.
   */
  updateSession(
    session: string,
    change: (notes: SessionNotes) => SessionNotes | undefined,
    expiresAt: number,
  ): Promise<SessionNotes>;
}

/** Every time is in ms since the epoch. */
export interface SessionNotes {
  /** The level that logging/setLevel asked for. */
  readonly logLevel?: LogLevel;
  /** Tasks that a poll showed as input_required, and when. */
  readonly waiting: Times;
  /** Questions that were sent, and when. */
  readonly asked: Times;
}
export type Times = Readonly<Record<string, number>>;

/** The levels of 2025-11-25 logging, mildest first. */
export const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Each attempt reads and writes all notes, also one that fails: up to 12 read and 48 write units. */
const ATTEMPTS = 4;

const keyOf = (session: string) => tableKey({ owner: session, taskId: SORT_KEYS.session });

export function sessionStore(db: DynamoDb, table: string): SessionStore {
  async function read(session: string): Promise<{ notes: SessionNotes; version: number }> {
    const { Item } = await db.get({ TableName: table, Key: keyOf(session), ConsistentRead: true });
    if (Item === undefined) return { notes: { waiting: {}, asked: {} }, version: 0 };
    const { [KEY.partition]: _o, [KEY.sort]: _t, expiresAt: _e, version, ...notes } = Item;
    return { notes: notes as SessionNotes, version };
  }

  async function write(session: string, notes: SessionNotes, version: number, expiresAt: number): Promise<boolean> {
    const put: PutInput = {
      TableName: table,
      Item: { ...notes, ...keyOf(session), version: version + 1, expiresAt },
      ConditionExpression: 'attribute_not_exists(#version) OR #version = :version',
      ExpressionAttributeNames: { '#version': 'version' },
      ExpressionAttributeValues: { ':version': version },
    };
    return (await ifConditionHolds(db.put(put))) !== undefined;
  }

  return {
    session: async (session) => (await read(session)).notes,
    async updateSession(session, change, expiresAt) {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const { notes, version } = await read(session);
        const changed = change(notes);
        if (changed === undefined) return notes;
        if (await write(session, changed, version, expiresAt)) return changed;
      }
      throw new Unavailable();
    },
  };
}
