import { DeleteItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, describe, expect, test } from 'vitest';
import type { StreamRecord } from '../../dynamodb/stream/index.ts';
import { objectOf } from '../../json.ts';
import {
  keyOf,
  type Streamed,
  type StreamedStack,
  startStreamed,
  TableName,
  toDead,
} from '../dynamodb/stream/streamed.ts';
import { allow, role } from '../iam/stack.ts';

let streamed: Streamed | undefined;
const start = async (stack: StreamedStack, options = {}) => {
  // A pause of a second is 50 ms, and a record stays in its stream for more than an hour, also on a busy machine.
  streamed = await startStreamed(stack, { timeScale: 20, ...options });
  return streamed;
};
afterEach(async () => {
  await streamed?.cloud.stop();
  streamed = undefined;
});

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

test.each([1, 4])('the changes of an item come in order, beside others, with %i batches at once', async (factor) => {
  const { cloud, client, events } = await start({ mapping: { BatchSize: 3, ParallelizationFactor: factor } });
  const owners = Array.from({ length: 8 }, (_, index) => `o${index}`);
  await Promise.all(
    owners.map(async (owner) => {
      for (let tally = 0; tally < 10; tally++) {
        const Item = { ...keyOf('a', owner), tally: { N: String(tally) } };
        await client.send(new PutItemCommand({ TableName, Item }));
      }
    }),
  );
  await cloud.streams.drained();
  const batches: StreamRecord[][] = events().map(({ Records }) => Records);
  expect(Math.max(...batches.map((batch) => batch.length))).toBeLessThanOrEqual(3);
  for (const owner of owners) {
    const own = batches
      .flat()
      .filter(({ dynamodb }) => JSON.stringify(dynamodb.Keys.owner) === JSON.stringify({ S: owner }));
    expect(own.map(({ dynamodb }) => Number(objectOf(dynamodb.NewImage?.tally).N))).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
    ]);
  }
});

test('a function that throws gets its records again, then the queue gets a message', async () => {
  const code =
    'export const handler = async (event) => { console.log(JSON.stringify(event)); throw new Error("no"); };';
  const { cloud, client, events } = await start({
    mapping: { MaximumRetryAttempts: 1, DestinationConfig: toDead },
    code,
  });
  await client.send(put('a'));
  await cloud.streams.drained();
  expect(events()).toHaveLength(2);
  expect(events()[0]).toEqual(events()[1]);
  const [dead, ...others] = cloud.queues.get('dead') ?? [];
  expect(others).toEqual([]);
  expect(JSON.parse(dead?.body ?? '')).toMatchObject({
    requestContext: { condition: 'RetryAttemptsExhausted', approximateInvokeCount: 2 },
    DDBStreamBatchInfo: { batchSize: 1, startSequenceNumber: events()[0].Records[0].dynamodb.SequenceNumber },
  });
});

test('only records that a filter matches come', async () => {
  const Pattern = JSON.stringify({
    eventName: ['INSERT'],
    dynamodb: { NewImage: { status: { S: ['done', { prefix: 'fail' }] }, hidden: { S: [{ exists: false }] } } },
  });
  const { cloud, client, events } = await start({ mapping: { FilterCriteria: { Filters: [{ Pattern }] } } });
  for (const [id, status] of Object.entries({ a: 'working', b: 'done', c: 'failed' })) {
    await client.send(put(id, { status: { S: status } }));
    await client.send(put(id, { status: { S: 'done' }, changed: { S: id } }));
  }
  await client.send(put('d', { status: { S: 'done' }, hidden: { S: 'x' } }));
  await cloud.streams.drained();
  const ids = events().flatMap(({ Records }) =>
    Records.map(({ dynamodb }: StreamRecord) => objectOf(dynamodb.Keys.id).S),
  );
  expect(ids).toEqual(['b', 'c']);
});

test('a disabled mapping delivers nothing', async () => {
  const { cloud, client, events } = await start({ mapping: { Enabled: false } });
  await client.send(put('a'));
  await cloud.streams.drained();
  expect(events()).toEqual([]);
  expect(cloud.streams.records(TableName)).toHaveLength(1);
});

describe('a fault of the delivery', () => {
  const DELIVER = { service: 'streams', operation: 'Deliver', caller: 'Mapping' } as const;
  test.each([
    ['a lost batch comes later', { ...DELIVER, do: 'drop' }, 1],
    ['a throttled batch comes later, beyond its retries', { ...DELIVER, do: { error: 'X', status: 429 }, times: 3 }, 1],
    ['a batch whose answer is lost comes twice', { ...DELIVER, at: 'after', do: 'drop' }, 2],
  ] as const)('%s', async (_name, fault, times) => {
    const { cloud, client, events } = await start({ mapping: { MaximumRetryAttempts: 0 } });
    const { struck } = cloud.faults.add(fault);
    await client.send(put('a'));
    await cloud.streams.drained();
    expect((await struck).input).toMatchObject({ Records: [{ eventName: 'INSERT' }] });
    expect(events()).toHaveLength(times);
  });
});

describe('a cloud is refused at start', () => {
  const unknown = (what: string) =>
    `the embedded cloud does not know ${what} of AWS::Lambda::EventSourceMapping (stack Test, Mapping)`;
  test.each([
    ['for an unknown property', { TumblingWindowInSeconds: 5 }, 'the property TumblingWindowInSeconds of AWS::Lambda'],
    ['for another source', { EventSourceArn: 'arn:aws:sqs:x' }, unknown('EventSourceArn "arn:aws:sqs:x"')],
    ['for another function', { FunctionName: 'none' }, unknown('FunctionName "none"')],
    ['without a position', { StartingPosition: undefined }, unknown('StartingPosition undefined')],
    ['for an empty batch', { BatchSize: 0 }, unknown('BatchSize 0')],
    ['for too large a batch', { BatchSize: 10_001 }, unknown('BatchSize 10001')],
    ['for more than ten batches at once', { ParallelizationFactor: 11 }, unknown('ParallelizationFactor 11')],
    ['for too short an age', { MaximumRecordAgeInSeconds: 59 }, unknown('MaximumRecordAgeInSeconds 59')],
    ['for too many retries', { MaximumRetryAttempts: 10_001 }, unknown('MaximumRetryAttempts 10001')],
    ['for too long a window', { MaximumBatchingWindowInSeconds: 301 }, unknown('MaximumBatchingWindowInSeconds 301')],
    ['for another answer', { FunctionResponseTypes: ['X'] }, unknown('FunctionResponseTypes ["X"]')],
    ['for a pattern that is not JSON', { FilterCriteria: { Filters: [{ Pattern: '{' }] } }, 'Filters[].Pattern "{"'],
    [
      'for a comparison it does not know',
      { FilterCriteria: { Filters: [{ Pattern: '{"dynamodb":{"Keys":{"id":{"S":[{"cidr":"x"}]}}}}' }] } },
      unknown('FilterCriteria.Filters[].Pattern.dynamodb.Keys.id.S {"cidr":"x"}'),
    ],
    [
      'for a destination that is not a queue of the template',
      { DestinationConfig: { OnFailure: { Destination: 'arn:aws:sns:x' } } },
      unknown('DestinationConfig.OnFailure.Destination "arn:aws:sns:x"'),
    ],
  ])('%s', async (_name, mapping, message) => {
    await expect(start({ mapping })).rejects.toThrow(message);
  });

  const stream = 'arn:aws:dynamodb:us-east-1:000000000000:table/things/stream/*';
  const actions = ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'].map((name) => `dynamodb:${name}`);
  const queue = 'arn:aws:sqs:us-east-1:000000000000:dead';
  test.each(actions)('if the function may not %s', async (missing) => {
    const others = actions.filter((action) => action !== missing);
    const allowed = role('lambda', [allow(others, stream)]);
    await expect(start({ mapping: {}, role: allowed })).rejects.toThrow(
      `may not ${missing} on ${stream.replace('*', '2026-01-01T00:00:00.000')}, for the event source mapping Mapping`,
    );
  });

  test('if the function may not send to the queue of its mapping', async () => {
    const mapping = { DestinationConfig: toDead };
    await expect(start({ mapping, role: role('lambda', [allow(actions, stream)]) })).rejects.toThrow(
      `may not sqs:SendMessage on ${queue}, for the event source mapping Mapping`,
    );
    const { cloud } = await start({
      mapping,
      role: role('lambda', [allow(actions, stream), allow('sqs:SendMessage', queue)]),
    });
    expect(cloud.permissions.unused().map(({ action }) => action)).toEqual(['iam:PassRole']);
  });
});
