import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { startCloud } from '../../cloud.ts';
import { synthApp } from '../../template/synth.ts';
import { dynamoDbClient, temporaryDir } from '../fixture.ts';

test("CDK's event sources are read, of a TableV2 and of a Table", async () => {
  const assembly = temporaryDir();
  await synthApp('local/test/event-source/app.ts', assembly);
  const lines: string[] = [];
  const cloud = await startCloud({ assembly, onLog: (_source, line) => lines.push(line) });
  try {
    const { GlobalName, PlainName } = cloud.outputs;
    for (const TableName of [GlobalName, PlainName]) {
      await dynamoDbClient(cloud).send(new PutItemCommand({ TableName, Item: { id: { S: 'a' } } }));
    }
    await cloud.streams.drained();
    expect(
      lines
        .filter((line) => line.endsWith(' a'))
        .map((line) => /table\/(.*)\/stream/.exec(line)?.[1])
        .sort(),
    ).toEqual([GlobalName, PlainName].sort());
    const unused = cloud.permissions.unused().map(({ action }) => action);
    expect(unused.filter((action) => action !== 'sqs:*')).toEqual(['sqs:GetQueueAttributes', 'sqs:GetQueueUrl']);
  } finally {
    await cloud.stop();
  }
});
