import type { DynamoDb } from '../../../functions/tasks/aws/dynamodb.ts';
import { mapSize } from '../../../local/testing.ts';
import type { Table } from './table.ts';
import { type Item, toItem } from './values.ts';

/** Units that calls used up. */
export interface Used {
  read: number;
  /** Of the table, without its indexes. */
  write: number;
}

/**
 * A table in memory whose calls are metered as DynamoDB does: a write takes a unit for each KB of the item before or after it,
 * whichever is larger, also if its condition fails; a consistent read a unit for each 4 KB, of each item of a batch, and of all items
 * of a query together; another read half of it. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
 */
export function metered(dynamoDb: DynamoDb, table: Table): { readonly dynamoDb: DynamoDb; readonly used: Used } {
  const used: Used = { read: 0, write: 0 };
  const sizeOf = (key: object | undefined) => {
    const item = table.get(toItem({ ...key }) as Item, {}, false);
    return item === undefined ? 0 : mapSize(item);
  };
  const reads = (bytes: number, consistent: boolean | undefined) => {
    used.read += Math.max(1, Math.ceil(bytes / 4_096)) * (consistent === true ? 1 : 0.5);
  };
  const written = async <T>(key: object | undefined, write: () => Promise<T>): Promise<T> => {
    const before = sizeOf(key);
    try {
      return await write();
    } finally {
      used.write += Math.max(1, Math.ceil(Math.max(before, sizeOf(key)) / 1_024));
    }
  };
  return {
    used,
    dynamoDb: {
      async get(input) {
        reads(sizeOf(input.Key), input.ConsistentRead);
        return dynamoDb.get(input);
      },
      async query(input) {
        const answer = await dynamoDb.query(input);
        const bytes = (answer.Items ?? []).reduce((sum, item) => sum + mapSize(toItem(item)), 0);
        reads(bytes, input.ConsistentRead);
        return answer;
      },
      async batchGet(input) {
        for (const { Keys = [], ConsistentRead } of Object.values(input.RequestItems ?? {})) {
          for (const key of Keys) reads(sizeOf(key), ConsistentRead);
        }
        return dynamoDb.batchGet(input);
      },
      put: (input) => {
        const { owner, taskId } = input.Item ?? {};
        return written({ owner, taskId }, () => dynamoDb.put(input));
      },
      update: (input) => written(input.Key, () => dynamoDb.update(input)),
      delete: (input) => written(input.Key, () => dynamoDb.delete(input)),
    },
  };
}
