import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { TaskKey } from '../record.ts';

/** Where to go on in a shard; only this file looks into it. */
export type Cursor = Readonly<Record<string, unknown>>;

/** The sparse index `due`: unfinished tasks only, by the time the sweep is to look at them. */
export interface DueIndex {
  /**
   * A page of one shard's tasks due by `until` (ms since the epoch), the longest due first. Like every index it may be
   * behind its table: what to do with a task is decided on its record.
   */
  page(shard: number, until: number, after?: Cursor): Promise<{ readonly keys: TaskKey[]; readonly next?: Cursor }>;
}

export function dueIndex(db: DynamoDBDocumentClient, table: string, pageSize: number): DueIndex {
  return {
    async page(shard, until, after) {
      const { Items = [], LastEvaluatedKey: next } = await db.send(
        new QueryCommand({
          TableName: table,
          IndexName: 'due',
          KeyConditionExpression: '#due = :shard AND #dueAt <= :until',
          ExpressionAttributeNames: { '#due': 'due', '#dueAt': 'dueAt' },
          ExpressionAttributeValues: { ':shard': String(shard), ':until': until },
          Limit: pageSize,
          ...(after !== undefined && { ExclusiveStartKey: after }),
        }),
      );
      return { keys: Items as TaskKey[], ...(next !== undefined && { next }) };
    },
  };
}
