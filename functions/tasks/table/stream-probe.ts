import { PROBE, tableKey } from '../attributes.ts';
import type { DynamoDb } from '../aws/dynamodb.ts';

/** Writes the probe: a change of an item makes a record in the stream. @param now in ms since the epoch */
export async function probeStream(db: DynamoDb, table: string, now: number): Promise<void> {
  await db.update({
    TableName: table,
    Key: tableKey(PROBE),
    UpdateExpression: 'SET #updatedAt = :now',
    ExpressionAttributeNames: { '#updatedAt': 'updatedAt' },
    ExpressionAttributeValues: { ':now': now },
  });
}
