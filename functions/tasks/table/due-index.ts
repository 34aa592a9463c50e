import { INDEXES, keyIn } from '../attributes.ts';
import type { DynamoDb } from '../aws/dynamodb.ts';
import type { TaskKey } from '../record.ts';

/** Where the next page of a shard begins. Only this file reads it. */
export type Cursor = Readonly<Record<string, unknown>>;

/** The sparse index `due`: unfinished tasks, and ended ones whose run is not stopped yet, by the time at which the sweep checks them. */
export interface DueIndex {
  /**
   * A page of the tasks of one shard that are due by `until` (ms since the epoch), the longest due first. An index may
   * be behind its table: read the record before you decide.
   */
  page(shard: number, until: number, after?: Cursor): Promise<{ readonly keys: TaskKey[]; readonly next?: Cursor }>;
}

export function dueIndex(db: DynamoDb, table: string, pageSize: number): DueIndex {
  return {
    async page(shard, until, after) {
      const { Items = [], LastEvaluatedKey: next } = await db.query({
        TableName: table,
        IndexName: INDEXES.due.name,
        KeyConditionExpression: '#due = :shard AND #dueAt <= :until',
        ExpressionAttributeNames: { '#due': INDEXES.due.partition, '#dueAt': INDEXES.due.sort },
        ExpressionAttributeValues: { ':shard': String(shard), ':until': until },
        Limit: pageSize,
        ...(after !== undefined && { ExclusiveStartKey: after }),
      });
      return { keys: Items.map(keyIn), ...(next !== undefined && { next }) };
    },
  };
}
