import {
  BatchGetItemCommand,
  CreateTableCommand,
  DeleteItemCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cloud, startCloud } from '../../cloud.ts';
import { dynamoDbClient, tableResource, temporaryDir, writeAssembly } from '../fixture.ts';

const assembly = writeAssembly({ resources: { Table: tableResource() } });
const TableName = 'things';
const key = (id: string) => ({ owner: { S: 'o' }, id: { S: id } });
const put = (id: string, more: object = {}) => new PutItemCommand({ TableName, Item: { ...key(id), ...more } });
const get = (id: string) => new GetItemCommand({ TableName, Key: key(id), ConsistentRead: true });

describe('a table of the template', () => {
  let time = Date.now();
  let cloud: Cloud;
  beforeAll(async () => {
    cloud = await startCloud({ assembly, recordCalls: true, ttlSweepMs: 3_600_000, now: () => time });
  });
  afterAll(() => cloud.stop());

  test('exists with its keys and index', async () => {
    const { Table } = await dynamoDbClient(cloud).send(new DescribeTableCommand({ TableName }));
    expect(Table?.KeySchema?.map(({ AttributeName }) => AttributeName)).toEqual(['owner', 'id']);
    expect(Table?.GlobalSecondaryIndexes?.[0]).toMatchObject({ IndexName: 'due', IndexStatus: 'ACTIVE' });
    expect(cloud.tables).toEqual(['things']);
  });

  test('counts text in bytes of UTF-8: in units, in the size of an item, and in keys', async () => {
    const client = dynamoDbClient(cloud);
    const units = async (text: string) => {
      await client.send(put('text', { text: { S: text } }));
      const { ConsumedCapacity } = await client.send(
        new GetItemCommand({ TableName, Key: key('text'), ConsistentRead: true, ReturnConsumedCapacity: 'TOTAL' }),
      );
      return ConsumedCapacity?.CapacityUnits;
    };
    expect([await units('x'.repeat(4_000)), await units('€'.repeat(1_400)), await units('😀'.repeat(1_100))]).toEqual([
      1, 2, 2,
    ]);
    const tooLarge = { name: 'ValidationException' };
    await expect(client.send(put('large', { text: { S: '€'.repeat(140_000) } }))).rejects.toMatchObject(tooLarge);
    await expect(client.send(put('large', { ['€'.repeat(15_000)]: { S: 'x'.repeat(370_000) } }))).rejects.toMatchObject(
      tooLarge,
    );
    await expect(client.send(put('ä'.repeat(513)))).rejects.toMatchObject(tooLarge);
    await client.send(put('ä'.repeat(512)));
    const { Items = [] } = await client.send(new ScanCommand({ TableName }));
    await Promise.all(
      Items.map(({ owner, id }) => client.send(new DeleteItemCommand({ TableName, Key: { owner, id } as never }))),
    );
  });

  test('loses expired items only', async () => {
    const client = dynamoDbClient(cloud);
    const at = (seconds: number) => ({ expiresAt: { N: String(Math.floor(time / 1000) + seconds) } });
    await Promise.all([
      client.send(put('over', at(-10))),
      client.send(put('later', at(100))),
      client.send(put('mistaken', { expiresAt: { N: '5' } })),
      client.send(put('text', { expiresAt: { S: '5' } })),
      client.send(put('without')),
    ]);
    expect(await cloud.sweepExpired()).toBe(1);
    time += 101_000;
    expect(await cloud.sweepExpired()).toBe(1);
    const output = await client.send(
      new QueryCommand({
        TableName,
        KeyConditionExpression: '#o = :o',
        ExpressionAttributeNames: { '#o': 'owner' },
        ExpressionAttributeValues: { ':o': { S: 'o' } },
      }),
    );
    expect(output.Items?.map(({ id }) => id?.S)).toEqual(['mistaken', 'text', 'without']);
  });

  test('describes and changes the attribute of the expiry', async () => {
    const client = dynamoDbClient(cloud);
    const describeIt = async () =>
      (await client.send(new DescribeTimeToLiveCommand({ TableName }))).TimeToLiveDescription;
    const update = (Enabled: boolean) =>
      client.send(
        new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled } }),
      );
    expect(await describeIt()).toEqual({ TimeToLiveStatus: 'ENABLED', AttributeName: 'expiresAt' });
    await expect(update(true)).rejects.toThrow('TimeToLive is already enabled');
    await update(false);
    expect(await describeIt()).toEqual({ TimeToLiveStatus: 'DISABLED' });
    await update(true);
  });

  test('operations that dynalite lacks are refused by name', async () => {
    const transaction = new TransactWriteItemsCommand({ TransactItems: [{ Put: { TableName, Item: key('x') } }] });
    await expect(dynamoDbClient(cloud).send(transaction)).rejects.toThrow(
      expect.objectContaining({ name: 'UnknownOperationException' }),
    );
  });

  test('an expression has 4,096 bytes at most, though dynalite takes more', async () => {
    const setting = (bytes: number) =>
      new UpdateItemCommand({
        TableName,
        Key: key('long'),
        UpdateExpression: `SET ${'x'.repeat(bytes - 9)} = :x`,
        ExpressionAttributeValues: { ':x': { S: 'y' } },
      });
    await dynamoDbClient(cloud).send(setting(4_096));
    await expect(dynamoDbClient(cloud).send(setting(4_097))).rejects.toThrow(
      'Invalid UpdateExpression: Expression size has exceeded the maximum allowed size; expression size: 4097',
    );
  });

  test('a test may create another table', async () => {
    const create = new CreateTableCommand({
      TableName: 'extra',
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    });
    const { TableDescription } = await dynamoDbClient(cloud).send(create);
    expect(TableDescription?.TableName).toBe('extra');
  });

  describe('every call is recorded with its consumed capacity', () => {
    const update = (UpdateExpression: string, values: Record<string, { S: string }>, more: object = {}) =>
      new UpdateItemCommand({
        TableName,
        Key: key('counted'),
        UpdateExpression,
        ...(Object.keys(values).length > 0 ? { ExpressionAttributeValues: values } : {}),
        ...more,
      });
    const CASES: [name: string, command: PutItemCommand | UpdateItemCommand, units: object][] = [
      ['a put into the index', put('counted', { due: { S: '1' } }), { table: 1, index: 1 }],
      ['an update the index does not hold', update('SET x = :x', { ':x': { S: 'y' } }), { table: 1, index: 0 }],
      ['a move within the index', update('SET due = :d', { ':d': { S: '2' } }), { table: 1, index: 2 }],
      ['a removal from the index', update('REMOVE due', {}), { table: 1, index: 1 }],
      ['a larger item', update('SET x = :x', { ':x': { S: 'y'.repeat(2500) } }), { table: 3, index: 0 }],
      ['a shorter one again', update('SET x = :x', { ':x': { S: 'y' } }), { table: 3, index: 0 }],
    ];
    test.each(CASES)('%s', async (_name, command, consumed) => {
      const mark = cloud.calls.mark();
      const output = await dynamoDbClient(cloud).send(command as PutItemCommand);
      expect(output.ConsumedCapacity).toBeUndefined();
      expect(cloud.calls.since(mark)).toMatchObject([{ caller: 'test', service: 'dynamodb', status: 200, consumed }]);
    });

    test('a lost condition', async () => {
      const mark = cloud.calls.mark();
      const lost = update('SET x = :x', { ':x': { S: 'y' } }, { ConditionExpression: 'attribute_exists(nothing)' });
      await expect(dynamoDbClient(cloud).send(lost)).rejects.toThrow('conditional request failed');
      const [call] = cloud.calls.since(mark);
      const error = 'ConditionalCheckFailedException';
      expect(call).toMatchObject({ operation: 'UpdateItem', error, status: 400, consumed: { table: 1, index: 0 } });
      expect(call?.input).toMatchObject({ TableName, ConditionExpression: 'attribute_exists(nothing)' });
    });

    test('a read', async () => {
      const mark = cloud.calls.mark();
      await dynamoDbClient(cloud).send(get('counted'));
      expect(cloud.calls.since(mark)).toMatchObject([{ operation: 'GetItem', consumed: { table: 1, index: 0 } }]);
    });

    test('a batch of reads: each item rounded up by itself, half if not consistent', async () => {
      const client = dynamoDbClient(cloud);
      await client.send(put('medium', { x: { S: 'y'.repeat(1_500) } }));
      await client.send(put('large', { x: { S: 'y'.repeat(6_500) } }));
      const batch = (ConsistentRead: boolean, more: object = {}) => {
        const Keys = ['medium', 'large', 'nothing'].map(key);
        return new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys, ConsistentRead, ...more } } });
      };
      const mark = cloud.calls.mark();
      const { Responses, ConsumedCapacity } = await client.send(batch(true));
      await client.send(batch(false));
      await client.send(batch(true, { ProjectionExpression: 'id' }));
      expect([Responses?.[TableName]?.length, ConsumedCapacity]).toEqual([2, undefined]);
      expect(cloud.calls.since(mark).map(({ operation, consumed }) => [operation, consumed])).toEqual([
        ['BatchGetItem', { table: 4, index: 0 }],
        ['BatchGetItem', { table: 2, index: 0 }],
        ['BatchGetItem', { table: 4, index: 0 }],
      ]);
    });

    test('a client that asks gets the capacity of a batch for each table', async () => {
      const RequestItems = { [TableName]: { Keys: [key('counted')] } };
      const asked = new BatchGetItemCommand({ RequestItems, ReturnConsumedCapacity: 'TOTAL' });
      const { ConsumedCapacity } = await dynamoDbClient(cloud).send(asked);
      expect(ConsumedCapacity).toEqual([{ TableName, CapacityUnits: 0.5 }]);
    });

    test('a client that asks gets the capacity', async () => {
      const command = new GetItemCommand({ TableName, Key: key('counted'), ReturnConsumedCapacity: 'TOTAL' });
      const { ConsumedCapacity } = await dynamoDbClient(cloud).send(command);
      expect(ConsumedCapacity).toEqual({ TableName, CapacityUnits: 0.5 });
    });
  });
});

describe('a data folder', () => {
  test('keeps items over a restart', async () => {
    const dataDir = temporaryDir();
    const first = await startCloud({ assembly, dataDir });
    await dynamoDbClient(first).send(put('kept', { due: { S: '1' } }));
    await first.stop();

    const second = await startCloud({ assembly, dataDir });
    const output = await dynamoDbClient(second).send(get('kept'));
    await second.stop();
    expect(output.Item).toEqual({ ...key('kept'), due: { S: '1' } });
  });

  test('of another schema is refused', async () => {
    const dataDir = temporaryDir();
    await (await startCloud({ assembly, dataDir })).stop();
    const other = tableResource({
      GlobalSecondaryIndexes: [],
      AttributeDefinitions: ['owner', 'id'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    });
    const changed = startCloud({ assembly: writeAssembly({ resources: { Table: other } }), dataDir });
    await expect(changed).rejects.toThrow('the table things on disk has other keys or indexes than the template');
    await (await startCloud({ assembly, dataDir })).stop();
  });

  test('is used by one process at a time', async () => {
    const dataDir = temporaryDir();
    const cloud = await startCloud({ assembly, dataDir });
    await expect(startCloud({ assembly, dataDir })).rejects.toThrow(`${dataDir} is in use by another embedded cloud`);
    await cloud.stop();
  });
});

test('expired items are removed by themselves', async () => {
  const cloud = await startCloud({ assembly, ttlSweepMs: 20 });
  const client = dynamoDbClient(cloud);
  await client.send(put('over', { expiresAt: { N: String(Math.floor(Date.now() / 1000) - 10) } }));
  await expect.poll(async () => (await client.send(get('over'))).Item).toBeUndefined();
  await cloud.stop();
});

test('without recordCalls no call is kept, and a read of them fails', async () => {
  const cloud = await startCloud({ assembly });
  await dynamoDbClient(cloud).send(put('x'));
  expect(() => cloud.calls.since()).toThrow('recordCalls');
  await cloud.stop();
});
