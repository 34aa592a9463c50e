import { setTimeout as sleep } from 'node:timers/promises';
import {
  BatchWriteItemCommand,
  DeleteItemCommand,
  DeleteTableCommand,
  PutItemCommand,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { afterEach, describe, expect, test } from 'vitest';
import type { CloudOptions } from '../../../cloud.ts';
import type { StreamRecord } from '../../../dynamodb/stream/index.ts';
import { keyOf, recordsOf, type Streamed, type StreamedStack, startStreamed, TableName } from './streamed.ts';

let streamed: Streamed | undefined;
const start = async (stack: StreamedStack = {}, options: Partial<CloudOptions> = {}) => {
  streamed = await startStreamed(stack, options);
  const { client, cloud } = streamed;
  const put = (id: string, more: object = {}, condition?: string) =>
    client.send(
      new PutItemCommand({
        TableName,
        Item: { ...keyOf(id), ...more },
        ...(condition && { ConditionExpression: condition }),
      }),
    );
  const update = (id: string, more: Omit<UpdateItemCommandInput, 'TableName' | 'Key'>) =>
    client.send(new UpdateItemCommand({ TableName, Key: keyOf(id), ...more }));
  const remove = (id: string) =>
    client.send(new DeleteItemCommand({ TableName, Key: keyOf(id), ReturnValues: 'ALL_OLD' }));
  return { ...streamed, put, update, remove, records: () => recordsOf(cloud) };
};
afterEach(async () => {
  await streamed?.cloud.stop();
  streamed = undefined;
});
const names = (records: readonly StreamRecord[]) => records.map(({ eventName }) => eventName);

describe('a write makes no record', () => {
  test('if it changes nothing: the same attributes in another order, sets in another order', async () => {
    const { put, update, remove, records } = await start();
    await put('a', { tags: { SS: ['x', 'y'] }, map: { M: { one: { N: '1' }, two: { L: [{ S: 'l' }] } } } });
    await put('a', { map: { M: { two: { L: [{ S: 'l' }] }, one: { N: '1' } } }, tags: { SS: ['y', 'x'] } });
    await update('a', {
      UpdateExpression: 'SET #map.#one = :one',
      ExpressionAttributeNames: { '#map': 'map', '#one': 'one' },
      ExpressionAttributeValues: { ':one': { N: '1.0' } },
    });
    await remove('none');
    expect(names(records())).toEqual(['INSERT']);
  });

  test('if its condition fails, or it is not valid', async () => {
    const { put, records } = await start();
    await put('a', { n: { N: '1' } });
    await expect(put('a', { n: { N: '2' } }, 'attribute_not_exists(id)')).rejects.toThrow();
    await expect(put('a', { due: { N: '2' } })).rejects.toThrow();
    expect(names(records())).toEqual(['INSERT']);
  });

  test('but a list in another order is another list', async () => {
    const { put, records } = await start();
    await put('a', { list: { L: [{ S: 'x' }, { S: 'y' }] } });
    await put('a', { list: { L: [{ S: 'y' }, { S: 'x' }] } });
    expect(names(records())).toEqual(['INSERT', 'MODIFY']);
  });
});

test.each([
  ['KEYS_ONLY', []],
  ['NEW_IMAGE', ['NewImage']],
  ['OLD_IMAGE', ['OldImage']],
  ['NEW_AND_OLD_IMAGES', ['NewImage', 'OldImage']],
])('the images of a %s stream', async (StreamViewType, images) => {
  const { put, records } = await start({ table: { StreamSpecification: { StreamViewType } } });
  await put('a', { n: { N: '1' } });
  await put('a', { n: { N: '2' } });
  const { dynamodb } = records()[1] ?? {};
  expect(
    Object.keys(dynamodb ?? {})
      .filter((name) => name.endsWith('Image'))
      .sort(),
  ).toEqual(images);
  expect(dynamodb).toMatchObject({ Keys: keyOf('a'), StreamViewType });
});

test('a table of CloudFormation has a stream, too, and another view type is refused', async () => {
  await expect(start({ table: { StreamSpecification: { StreamViewType: 'ALL' } } })).rejects.toThrow(
    'the embedded cloud does not know StreamSpecification.StreamViewType "ALL" of AWS::DynamoDB::GlobalTable',
  );
});

test('each write of a batch makes its record', async () => {
  const { client, put, records } = await start();
  await put('old');
  const writes = ['a', 'b', 'c'].map((id) => ({ PutRequest: { Item: keyOf(id) } }));
  const RequestItems = { [TableName]: [...writes, { DeleteRequest: { Key: keyOf('old') } }] };
  await client.send(new BatchWriteItemCommand({ RequestItems }));
  expect(names(records()).sort()).toEqual(['INSERT', 'INSERT', 'INSERT', 'INSERT', 'REMOVE']);
});

/** Each record of an item must begin where the one before it ended. Returns the last image. */
function follow(records: readonly StreamRecord[]): unknown {
  let image: unknown;
  for (const { dynamodb, eventName } of records) {
    expect(dynamodb.OldImage).toEqual(image);
    image = dynamodb.NewImage;
    expect(eventName).toBe(dynamodb.OldImage ? (image ? 'MODIFY' : 'REMOVE') : 'INSERT');
  }
  return image;
}

test.each([{ recordCalls: false }, { recordCalls: true }])('concurrent writes of one item: %j', async (options) => {
  const { put, update, remove, records } = await start({}, options);
  const count = { UpdateExpression: 'ADD n :one', ExpressionAttributeValues: { ':one': { N: '1' } } };
  const results = await Promise.allSettled(
    Array.from({ length: 300 }, (_, index) => {
      if (index % 7 === 0) return remove('a');
      if (index % 5 === 0) return put('a', { by: { N: String(index) } }, 'attribute_not_exists(id)');
      return update('a', count);
    }),
  );
  const made = records();
  const numbers = made.map(({ dynamodb }) => dynamodb.SequenceNumber);
  expect(numbers).toEqual([...new Set(numbers)].sort());
  const updates = results.filter(({ status }, index) => status === 'fulfilled' && index % 7 && index % 5);
  const removals = results.filter((result) => result.status === 'fulfilled' && 'Attributes' in result.value);
  const failed = results.filter(({ status }) => status === 'rejected');
  expect(names(made).filter((name) => name === 'REMOVE')).toHaveLength(
    removals.filter((one) => one.status === 'fulfilled' && one.value.Attributes).length,
  );
  const puts = Math.ceil(300 / 5) - Math.ceil(300 / 35) - failed.length;
  expect(made).toHaveLength(updates.length + puts + names(made).filter((name) => name === 'REMOVE').length);
  follow(made);
});

describe('time to live', () => {
  const identity = { type: 'Service', principalId: 'dynamodb.amazonaws.com' };
  const over = { expiresAt: { N: String(Math.floor(Date.now() / 1000) - 100) } };

  test('removes an item under its service name, with the old image', async () => {
    const { cloud, put, remove, records } = await start();
    await put('a', over);
    await put('b', over);
    await remove('b');
    expect(await cloud.sweepExpired()).toBe(1);
    const [, , byClient, byService] = records();
    expect(byClient).not.toHaveProperty('userIdentity');
    expect(byService).toMatchObject({ eventName: 'REMOVE', userIdentity: identity, dynamodb: { OldImage: over } });
  });

  test('and a client at the same time: the record names the one that did it', async () => {
    const { cloud, put, update, remove, records } = await start();
    const ids = Array.from({ length: 60 }, (_, index) => `i${index}`);
    await Promise.all(ids.map((id) => put(id, over)));
    const touch = { UpdateExpression: 'SET touched = :t', ExpressionAttributeValues: { ':t': { N: '1' } } };
    const [swept, ...removed] = await Promise.all([
      cloud.sweepExpired(),
      ...ids.map(async (id, index) => {
        // Keeps the lock of the item busy while the sweep comes to it.
        const touches = Promise.allSettled(
          Array.from({ length: 3 }, () => update(id, { ...touch, ConditionExpression: 'attribute_exists(id)' })),
        );
        await sleep(index % 10);
        const answer = await remove(id);
        await touches;
        return answer.Attributes ? id : undefined;
      }),
    ]);
    const removals = records().filter(({ eventName }) => eventName === 'REMOVE');
    const ofClient = removals.filter(({ userIdentity }) => userIdentity === undefined);
    expect(new Set(ofClient.map(({ dynamodb }) => JSON.stringify(dynamodb.Keys.id)))).toEqual(
      new Set(removed.filter((id) => id !== undefined).map((id) => JSON.stringify({ S: id }))),
    );
    expect([removals.length, removals.length - ofClient.length]).toEqual([ids.length, swept]);
  });
});

describe('a fault', () => {
  const PUT = { service: 'dynamodb', operation: 'PutItem' } as const;
  test.each([
    ['a lost answer leaves the record', { ...PUT, at: 'after', do: 'drop' }, ['INSERT']],
    ['a lost request leaves none', { ...PUT, do: 'drop' }, []],
    ['a refused request leaves none', { ...PUT, do: { error: 'ProvisionedThroughputExceededException' } }, []],
  ] as const)('%s', async (_name, fault, made) => {
    const { cloud, put, records } = await start();
    cloud.faults.add(fault);
    await expect(put('a')).rejects.toThrow();
    expect(names(records())).toEqual(made);
  });
});

test('the end of a table makes no records', async () => {
  const { client, put, records } = await start();
  await put('a');
  await client.send(new DeleteTableCommand({ TableName }));
  await expect(put('b')).rejects.toThrow('not found');
  expect(names(records())).toEqual(['INSERT']);
});

test('a table without a stream makes no records', async () => {
  const { put, records } = await start({ table: { StreamSpecification: undefined } });
  await put('a');
  expect(records()).toEqual([]);
});
