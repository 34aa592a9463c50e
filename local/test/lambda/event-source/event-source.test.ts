import { DeleteItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, expect, test } from 'vitest';
import { keyOf, type Streamed, type StreamedStack, startStreamed, TableName } from '../../dynamodb/stream/streamed.ts';

let streamed: Streamed | undefined;
const start = async (stack: StreamedStack, options = {}) => {
  streamed = await startStreamed(stack, { timeScale: 1_000, ...options });
  return streamed;
};
afterEach(() => streamed?.cloud.stop());

const put = (id: string, more: object = {}) => new PutItemCommand({ TableName, Item: { ...keyOf(id), ...more } });

test('a function gets the changes of a table, in the shape of AWS', async () => {
  const { cloud, client, events } = await start({ mapping: { BatchSize: 1 } }, { now: () => 1_700_000_000_999 });
  await client.send(put('a', { tally: { N: '1' } }));
  await client.send(
    new UpdateItemCommand({
      TableName,
      Key: keyOf('a'),
      UpdateExpression: 'SET tally = :two',
      ExpressionAttributeValues: { ':two': { N: '2' } },
    }),
  );
  await client.send(new DeleteItemCommand({ TableName, Key: keyOf('a') }));
  await cloud.streams.drained();

  const arn = 'arn:aws:dynamodb:us-east-1:000000000000:table/things/stream/2026-01-01T00:00:00.000';
  const record = (eventName: string, SizeBytes: number, images: object) => ({
    eventID: expect.stringMatching(/^[0-9a-f]{32}$/),
    eventName,
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: 'us-east-1',
    dynamodb: {
      ApproximateCreationDateTime: 1_700_000_000,
      Keys: keyOf('a'),
      ...images,
      SequenceNumber: expect.stringMatching(/^\d{21,40}$/),
      SizeBytes,
      StreamViewType: 'NEW_AND_OLD_IMAGES',
    },
    eventSourceARN: arn,
  });
  const one = { ...keyOf('a'), tally: { N: '1' } };
  const two = { ...keyOf('a'), tally: { N: '2' } };
  expect(events()).toStrictEqual([
    { Records: [record('INSERT', 9 + 16, { NewImage: one })] },
    { Records: [record('MODIFY', 9 + 16 + 16, { NewImage: two, OldImage: one })] },
    { Records: [record('REMOVE', 9 + 16, { OldImage: two })] },
  ]);
});
