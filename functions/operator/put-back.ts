import { type DynamoDBDocumentClient, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { ifConditionHolds } from '../tasks/table/conditional-write.ts';
import { isKnown } from '../tasks/table/known-record.ts';
import { isTerminal } from '../tasks/transitions.ts';

/** What became of the items of a restored table. */
export interface PutBack {
  /** Items of the restored table. */
  read: number;
  /** They were missing in the table of the server, or were unfinished there and had ended before. */
  written: number;
  /** The table of the server has them, as they are now or as they ended. */
  kept: number;
  /** DynamoDB has deleted them in the table of the server, or will: their time to live is over. */
  expired: number;
}

type Item = Readonly<Record<string, unknown>>;

/** Puts that are under way at the same time. */
const AT_ONCE = 25;

/**
 * Copies what is missing from a table that was restored to an earlier moment back to the table of the server, while that
 * is in use: see docs/recovery.md. Each put has a condition, so that nothing newer is overwritten, and no outcome. It can
 * be repeated, and stopped at any moment. Throws what DynamoDB refuses.
 *
 * @param now in ms since the epoch
 */
export async function putBack(
  db: DynamoDBDocumentClient,
  tables: { readonly restored: string; readonly current: string },
  now: number,
): Promise<PutBack> {
  const done: PutBack = { read: 0, written: 0, kept: 0, expired: 0 };
  let from: Item | undefined;
  do {
    const scan = { TableName: tables.restored, Limit: AT_ONCE, ...(from && { ExclusiveStartKey: from }) };
    const page = await db.send(new ScanCommand({ ...scan, ConsistentRead: true }));
    await Promise.all(
      (page.Items ?? []).map(async (item) => {
        done.read++;
        if (typeof item.expiresAt === 'number' && item.expiresAt * 1_000 <= now) done.expired++;
        else if (await ifConditionHolds(db.send(put(tables.current, item)))) done.written++;
        else done.kept++;
      }),
    );
    from = page.LastEvaluatedKey;
  } while (from !== undefined);
  return done;
}

/** A task that has ended stays so (C-10, E-14): one that is unfinished now, and had ended before, was damaged since. */
function put(TableName: string, item: Item): PutCommand {
  const missing = 'attribute_not_exists(#taskId)';
  if (!isKnown(item) || !isTerminal(item.status)) {
    const ExpressionAttributeNames = { '#taskId': 'taskId' };
    return new PutCommand({ TableName, Item: item, ConditionExpression: missing, ExpressionAttributeNames });
  }
  return new PutCommand({
    TableName,
    Item: item,
    // Another task under the same idempotency key has another time.
    ConditionExpression: `${missing} OR (#createdAt = :createdAt AND #status IN (:working, :waiting))`,
    ExpressionAttributeNames: { '#taskId': 'taskId', '#createdAt': 'createdAt', '#status': 'status' },
    ExpressionAttributeValues: { ':createdAt': item.createdAt, ':working': 'working', ':waiting': 'input_required' },
  });
}
