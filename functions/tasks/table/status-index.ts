import { INDEXES } from '../attributes.ts';
import type { DynamoDb, QueryInput } from '../aws/dynamodb.ts';
import { shardOf } from '../ids.ts';
import { limits } from '../limits.ts';
import { OPEN, type Status } from '../record.ts';

/** The partition of a task in the index `status`. Each write of a status writes it, too, also by `lib/workflow/write.jsonata`. */
export const statusShard = (status: Status, taskId: string): string =>
  `${status}#${shardOf(taskId, limits.statusShards)}`;

/** The partitions of all tasks in a status. */
export const statusShards = (status: Status): string[] =>
  Array.from({ length: limits.statusShards }, (_, shard) => `${status}#${shard}`);

/**
 * When the oldest unfinished task was created, in ms since the epoch, by the index `status`. Undefined if there is none. The
 * index may be a moment behind its table.
 */
export async function oldestOpen(db: DynamoDb, table: string): Promise<number | undefined> {
  const { name, partition, sort } = INDEXES.status;
  const oldest = await Promise.all(
    OPEN.flatMap(statusShards).map(async (shard) => {
      const query: QueryInput = {
        TableName: table,
        IndexName: name,
        KeyConditionExpression: '#shard = :shard',
        ProjectionExpression: '#createdAt',
        ExpressionAttributeNames: { '#shard': partition, '#createdAt': sort },
        ExpressionAttributeValues: { ':shard': shard },
        Limit: 1,
      };
      return (await db.query(query)).Items?.[0]?.createdAt as number | undefined;
    }),
  );
  const found = oldest.filter((createdAt) => createdAt !== undefined);
  return found.length === 0 ? undefined : Math.min(...found);
}
