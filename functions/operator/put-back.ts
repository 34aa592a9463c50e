import { type DynamoDBDocumentClient, NumberValue, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { EVENTS_PARTITION, KEY } from '../tasks/attributes.ts';
import { OPEN } from '../tasks/record.ts';
import { ifConditionHolds } from '../tasks/table/conditional-write.ts';
import { recordIn } from '../tasks/table/known-record.ts';
import { isTerminal } from '../tasks/transitions/change.ts';

/** Counts of the items of a restored table. */
export interface PutBack {
  /** Items of the restored table. */
  read: number;
  /** Missing in the table of the server, or unfinished there although they had ended in the restored one. */
  written: number;
  /** In the table of the server already, newer or ended. */
  kept: number;
  /** Not copied, as their time to live is over: DynamoDB deletes them. */
  expired: number;
  /** Of MCP Events: not copied, as a log must not go back, and a subscription that was ended must not live again. */
  left: number;
}

type Item = Readonly<Record<string, unknown>>;

/** Puts at the same time. */
const AT_ONCE = 25;

/**
 * For `unmarshallOptions.wrapNumbers`: copies every number digit for digit. By default, one that JavaScript cannot hold,
 * such as a tool may write as its progress, makes its whole page unreadable.
 */
export const exactNumber = (text: string): number | NumberValue =>
  String(Number(text)) === text ? Number(text) : NumberValue.from(text);

/**
 * Copies missing items from a restored table to the table of the server, while that is in use: see docs/recovery.md.
 * Each put has a condition, so it overwrites nothing newer and no outcome. It can be stopped at any moment and
 * repeated. Tasks come last: a task goes on as soon as it is there, and its run needs the steps that it has done. Throws the errors
 * of DynamoDB.
 *
 * @param now in ms since the epoch
 */
export async function putBack(
  db: DynamoDBDocumentClient,
  tables: { readonly restored: string; readonly current: string },
  now: number,
): Promise<PutBack> {
  const done: PutBack = { read: 0, written: 0, kept: 0, expired: 0, left: 0 };
  const copy = async (item: Item) => {
    done.read++;
    if (String(item[KEY.partition]).startsWith(EVENTS_PARTITION)) done.left++;
    else if (typeof item.expiresAt === 'number' && item.expiresAt * 1_000 <= now) done.expired++;
    else if (await ifConditionHolds(db.send(put(tables.current, item)))) done.written++;
    else done.kept++;
  };
  for (const ofTasks of [false, true]) {
    for await (const page of pages(db, tables.restored)) {
      await Promise.all(page.filter((item) => isTask(item) === ofTasks).map(copy));
    }
  }
  return done;
}

/** Records of tasks, also of another release. No other item has a status. */
const isTask = (item: Item): boolean => item.status !== undefined;

async function* pages(db: DynamoDBDocumentClient, TableName: string): AsyncGenerator<readonly Item[]> {
  let from: Item | undefined;
  do {
    const scan = { TableName, Limit: AT_ONCE, ...(from && { ExclusiveStartKey: from }) };
    const page = await db.send(new ScanCommand({ ...scan, ConsistentRead: true }));
    yield page.Items ?? [];
    from = page.LastEvaluatedKey;
  } while (from !== undefined);
}

/** A task that has ended stays ended (C-10, E-14): one that is unfinished now was damaged meanwhile. */
function put(TableName: string, item: Item): PutCommand {
  const missing = 'attribute_not_exists(#taskId)';
  const record = recordIn(item);
  if (record === undefined || !isTerminal(record.status)) {
    const ExpressionAttributeNames = { '#taskId': KEY.sort };
    return new PutCommand({ TableName, Item: item, ConditionExpression: missing, ExpressionAttributeNames });
  }
  return new PutCommand({
    TableName,
    Item: item,
    // A later task under the same idempotency key has another createdAt.
    ConditionExpression: `${missing} OR (#createdAt = :createdAt AND #status IN (${OPEN.map((status) => `:${status}`).join(', ')}))`,
    ExpressionAttributeNames: { '#taskId': KEY.sort, '#createdAt': 'createdAt', '#status': 'status' },
    ExpressionAttributeValues: {
      ':createdAt': item.createdAt,
      ...Object.fromEntries(OPEN.map((status) => [`:${status}`, status])),
    },
  });
}
