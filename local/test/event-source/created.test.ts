import { CloudFormationClient, DescribeStackResourceCommand } from '@aws-sdk/client-cloudformation';
import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  PutItemCommand,
  UpdateTableCommand,
  waitUntilTableExists,
  waitUntilTableNotExists,
} from '@aws-sdk/client-dynamodb';
import {
  CreateEventSourceMappingCommand,
  type CreateEventSourceMappingCommandInput,
  GetEventSourceMappingCommand,
  LambdaClient,
} from '@aws-sdk/client-lambda';
import { afterEach, expect, test } from 'vitest';
import type { CloudOptions } from '../../cloud.ts';
import { keyOf, type Streamed, type StreamedStack, startStreamed, TableName } from '../dynamodb/stream/streamed.ts';
import { clientConfig } from '../fixture.ts';
import { allow, role } from '../iam/stack.ts';

let streamed: Streamed | undefined;
afterEach(async () => {
  await streamed?.cloud.stop();
  streamed = undefined;
});

const ACTIONS = ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'].map((name) => `dynamodb:${name}`);
const STREAM = 'arn:aws:dynamodb:us-east-1:000000000000:table/things/stream/';

/** A cloud whose table was deleted and made again, as a restore makes it: without its stream. */
async function restored(stack: StreamedStack, options: Partial<CloudOptions> = {}) {
  streamed = await startStreamed(stack, options);
  const { cloud, client } = streamed;
  const waiting = { client, maxWaitTime: 60, minDelay: 1, maxDelay: 1 };
  const describe = async () => (await client.send(new DescribeTableCommand({ TableName }))).Table ?? {};
  const { KeySchema, AttributeDefinitions = [], LatestStreamArn } = await describe();
  await client.send(new DeleteTableCommand({ TableName }));
  await waitUntilTableNotExists(waiting, { TableName });
  const schema = { KeySchema, AttributeDefinitions: AttributeDefinitions.slice(0, 2) };
  await client.send(new CreateTableCommand({ TableName, ...schema, BillingMode: 'PAY_PER_REQUEST' }));
  await waitUntilTableExists(waiting, { TableName });
  const lambda = new LambdaClient(clientConfig(cloud));
  const resource = { StackName: 'Test', LogicalResourceId: 'Mapping' };
  const facts = await new CloudFormationClient(clientConfig(cloud)).send(new DescribeStackResourceCommand(resource));
  return {
    ...streamed,
    describe,
    before: LatestStreamArn,
    UUID: facts.StackResourceDetail?.PhysicalResourceId,
    put: (id: string) => client.send(new PutItemCommand({ TableName, Item: keyOf(id) })),
    switchOn: () =>
      client.send(
        new UpdateTableCommand({
          TableName,
          StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
        }),
      ),
    get: (UUID: string | undefined) => lambda.send(new GetEventSourceMappingCommand({ UUID })),
    create: (mapping: Omit<CreateEventSourceMappingCommandInput, 'FunctionName'>) =>
      lambda.send(
        new CreateEventSourceMappingCommand({ FunctionName: 'Test-Listener', StartingPosition: 'LATEST', ...mapping }),
      ),
  };
}

test('a restored table has no stream; a new one has another ARN, and needs another mapping', async () => {
  const { cloud, events, before, ...table } = await restored({ mapping: { BatchSize: 7 } });
  expect(before).toMatch(STREAM);
  expect((await table.describe()).LatestStreamArn).toBeUndefined();
  await table.put('unseen');
  await table.switchOn();
  const { LatestStreamArn: EventSourceArn = '', StreamSpecification } = await table.describe();
  expect(StreamSpecification).toEqual({ StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' });
  expect(EventSourceArn).toMatch(STREAM);
  expect(EventSourceArn).not.toBe(before);
  await table.put('unread');
  await cloud.streams.drained();
  expect(events()).toEqual([]);

  const old = await table.get(table.UUID);
  expect(old).toMatchObject({ EventSourceArn: before, BatchSize: 7, StartingPosition: 'TRIM_HORIZON' });
  const { UUID } = await table.create({ EventSourceArn, BatchSize: 7 });
  expect(await table.get(UUID)).toMatchObject({ EventSourceArn, BatchSize: 7, FunctionArn: old.FunctionArn });
  await table.put('read');
  await cloud.streams.drained();
  expect(events()).toMatchObject([{ Records: [{ dynamodb: { Keys: keyOf('read') } }] }]);
});

test('AWS refuses a second stream, a second mapping of it, and one of a stream that is gone', async () => {
  const { before, ...table } = await restored({ mapping: {} });
  await table.switchOn();
  await expect(table.switchOn()).rejects.toMatchObject({ name: 'ValidationException' });
  const { LatestStreamArn: EventSourceArn } = await table.describe();
  await table.create({ EventSourceArn });
  await expect(table.create({ EventSourceArn })).rejects.toMatchObject({ name: 'ResourceConflictException' });
  const refused = { name: 'InvalidParameterValueException' };
  await expect(table.create({ EventSourceArn: before })).rejects.toMatchObject(refused);
  await expect(table.create({ EventSourceArn, BatchSize: 10_001 })).rejects.toMatchObject(refused);
  await expect(table.get('none')).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
});

test('rights on one stream do not cover the stream of the restored table', async () => {
  const allowed = role('lambda', [allow(ACTIONS, { 'Fn::GetAtt': ['Table', 'StreamArn'] })]);
  const table = await restored({ mapping: {}, role: allowed });
  await table.switchOn();
  const { LatestStreamArn: EventSourceArn } = await table.describe();
  await expect(table.create({ EventSourceArn })).rejects.toThrow(/may not dynamodb:DescribeStream on .*\/stream\//);
});
