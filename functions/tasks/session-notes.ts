import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { lost } from './store.ts';

/**
 * What the server must know of a 2025-11-25 session from one request to the next: one small item, in a partition of the
 * session's own. Its sort key begins with `#`, so that no list of tasks shows it. `session` is the partition
 * (`sessionPartition`), `expiresAt` in seconds since the epoch.
 */
export interface SessionStore {
  session(session: string): Promise<SessionNotes>;
  setLogLevel(session: string, level: LogLevel, expiresAt: number): Promise<void>;
  /** The session has seen, at `at` (ms), that a task asks: noted once. */
  noteWaiting(session: string, taskId: string, at: number, expiresAt: number): Promise<void>;
  forgetWaiting(session: string, taskIds: readonly string[]): Promise<void>;
  /** Questions of a task have been sent on a stream of this session. `afresh`: forgets what was asked before. */
  noteAsked(
    session: string,
    taskId: string,
    askings: readonly string[],
    afresh: boolean,
    expiresAt: number,
  ): Promise<void>;
}

export interface SessionNotes {
  /** The level that logging/setLevel asked for. */
  readonly logLevel?: LogLevel;
  /** Tasks that were seen to ask, but have not been heard so far. */
  readonly waiting: readonly string[];
  /** When the last of `waiting` was added, in ms since the epoch. */
  readonly waitingSince: number;
  /** Questions that were sent. */
  readonly asked: readonly string[];
}

/** The levels of 2025-11-25 logging, mildest first. */
export const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const SORT_KEY = '#session';

export function sessionStore(db: DynamoDBDocumentClient, table: string): SessionStore {
  const update = (session: string, expression: string, values: Record<string, unknown>, condition?: string) =>
    db.send(
      new UpdateCommand({
        TableName: table,
        Key: { owner: session, taskId: SORT_KEY },
        UpdateExpression: expression,
        ExpressionAttributeValues: values,
        ExpressionAttributeNames: namesIn(`${expression} ${condition ?? ''}`),
        ...(condition !== undefined && { ConditionExpression: condition }),
      }),
    );
  return {
    async session(session) {
      const Key = { owner: session, taskId: SORT_KEY };
      const { Item = {} } = await db.send(new GetCommand({ TableName: table, Key, ConsistentRead: true }));
      const strings = (set: unknown) => (set instanceof Set ? [...(set as Set<string>)] : []);
      return {
        ...(Item.logLevel !== undefined && { logLevel: Item.logLevel as LogLevel }),
        waiting: strings(Item.waiting),
        waitingSince: Number(Item.waitingSince ?? 0),
        asked: strings(Item.asked),
      };
    },
    async setLogLevel(session, level, expiresAt) {
      await update(session, 'SET #logLevel = :level, #expiresAt = :expiresAt', {
        ':level': level,
        ':expiresAt': expiresAt,
      });
    },
    async noteWaiting(session, taskId, at, expiresAt) {
      const expression = 'ADD #waiting :set SET #waitingSince = :at, #expiresAt = :expiresAt';
      const values = { ':set': new Set([taskId]), ':one': taskId, ':at': at, ':expiresAt': expiresAt };
      await lost(update(session, expression, values, 'NOT contains(#waiting, :one)'));
    },
    async forgetWaiting(session, taskIds) {
      await update(session, 'DELETE #waiting :set', { ':set': new Set(taskIds) });
    },
    async noteAsked(session, taskId, askings, afresh, expiresAt) {
      const add = afresh ? 'SET #asked = :set, ' : 'ADD #asked :set SET ';
      const values = { ':set': new Set(askings), ':task': new Set([taskId]), ':expiresAt': expiresAt };
      await update(session, `${add}#expiresAt = :expiresAt DELETE #waiting :task`, values);
    },
  };
}

/** Every attribute has a placeholder of its own name. */
function namesIn(expression: string): Record<string, string> {
  return Object.fromEntries([...expression.matchAll(/#(\w+)/g)].map(([placeholder, name = '']) => [placeholder, name]));
}
