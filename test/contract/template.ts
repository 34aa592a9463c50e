import { DescribeTableCommand, DescribeTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import type { Referee } from './referee.ts';

/** What the table is made with. */
export function templateContract(referee: () => Referee): void {
  test('keys, index and time to live are as in the template', async () => {
    const { db, table: TableName } = referee();
    const { Table } = await db.send(new DescribeTableCommand({ TableName }));
    const keys = (schema: { AttributeName?: string | undefined }[] = []) => schema.map((key) => key.AttributeName);
    expect(keys(Table?.KeySchema)).toEqual(['owner', 'taskId']);
    const index = (name: string) => Table?.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === name);
    expect(Table?.GlobalSecondaryIndexes).toHaveLength(2);
    expect(index('due')?.Projection).toMatchObject({ ProjectionType: 'KEYS_ONLY' });
    expect(keys(index('due')?.KeySchema)).toEqual(['due', 'dueAt']);
    expect(index('status')?.Projection?.NonKeyAttributes?.toSorted()).toEqual(['deadlineAt', 'status', 'tool']);
    expect(keys(index('status')?.KeySchema)).toEqual(['statusShard', 'createdAt']);
    const { TimeToLiveDescription } = await db.send(new DescribeTimeToLiveCommand({ TableName }));
    expect(TimeToLiveDescription).toMatchObject({ AttributeName: 'expiresAt' });
    expect(TimeToLiveDescription?.TimeToLiveStatus).toMatch(/^ENABL(ED|ING)$/);
  });
}
