import { INDEXES } from '../attributes.ts';
import type { DynamoDb, QueryInput } from '../aws/dynamodb.ts';
import { OPEN } from '../record.ts';

/**
 * When the oldest unfinished task was created, in ms since the epoch, by the index `status`. Undefined if there is none. The
 * index may be a moment behind its table.
 */
export async function oldestOpen(db: DynamoDb, table: string): Promise<number | undefined> {
  const oldest = await Promise.all(
    OPEN.map(async (status) => {
      const query: QueryInput = {
        TableName: table,
        IndexName: INDEXES.status.name,
        KeyConditionExpression: '#status = :status',
        ProjectionExpression: '#createdAt',
        ExpressionAttributeNames: { '#status': 'status', '#createdAt': 'createdAt' },
        ExpressionAttributeValues: { ':status': status },
        Limit: 1,
      };
      return (await db.query(query)).Items?.[0]?.createdAt as number | undefined;
    }),
  );
  const found = oldest.filter((createdAt) => createdAt !== undefined);
  return found.length === 0 ? undefined : Math.min(...found);
}
