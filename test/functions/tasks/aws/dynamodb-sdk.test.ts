import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DynamoDb, dynamoDb } from '../../../../functions/tasks/aws/dynamodb.ts';
import { byDocumentClient } from '../../../support/dynamodb.ts';

/** A DynamoDB that gives one answer again and again, and keeps the last request. */
let last: object | undefined;
let answer = '{}';
const server = createServer(async (request, response) => {
  const { 'x-amz-target': target, 'content-type': type } = request.headers;
  last = { target, type, body: JSON.parse(await text(request)) };
  response.end(answer);
});
let ours: DynamoDb;
let theirs: DynamoDb;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const [region, credentials] = ['eu-west-1', { accessKeyId: 'a', secretAccessKey: 'b' }];
  ours = dynamoDb({ endpoint, region, credentials: async () => credentials, requestTimeout: 5_000 }, {});
  const client = new DynamoDBClient({ endpoint, region, credentials });
  const options = { marshallOptions: { removeUndefinedValues: true }, unmarshallOptions: { wrapNumbers: Number } };
  theirs = byDocumentClient(DynamoDBDocumentClient.from(client, options));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** What one client sends, and makes of the answer; or why it sends nothing. */
async function outcome(db: DynamoDb, call: (db: DynamoDb) => Promise<object>) {
  last = undefined;
  try {
    const { $metadata: _, ...got } = (await call(db)) as { $metadata?: unknown };
    return { sent: last, got };
  } catch (error) {
    return { sent: last, failed: (error as Error).message };
  }
}
async function same(call: (db: DynamoDb) => Promise<object>, given: object = {}) {
  answer = JSON.stringify(given);
  const expected = await outcome(theirs, call);
  expect(await outcome(ours, call)).toEqual(expected);
  return expected;
}

/** Both clients refuse an empty set. */
const some = { minLength: 1 };
const bytes = fc.uint8Array({ maxLength: 20 });
const number = fc.oneof(
  { weight: 10, arbitrary: fc.oneof(fc.maxSafeInteger(), fc.double({ min: -1e15, max: 1e15, noNaN: true })) },
  { weight: 10, arbitrary: fc.constantFrom(0, -0, 0.1, 1e-7, 5e-324) },
  // Both clients refuse these.
  { weight: 1, arbitrary: fc.constantFrom(2 ** 53, 1e300, Number.NaN, Number.NEGATIVE_INFINITY) },
);
/** JavaScript gives `__proto__` a meaning, so the two clients differ there. No attribute of a task has this name. */
const name = fc.string().filter((text) => text !== '__proto__');
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.string({ unit: 'binary' }),
    number,
    fc.boolean(),
    fc.constantFrom(null, undefined, 12n ** 30n, ''),
    bytes,
    bytes.map((given) => Buffer.from(given)),
    fc
      .oneof(fc.uniqueArray(fc.string()), fc.uniqueArray(fc.integer()), fc.array(bytes))
      .map((all) => new Set(all as readonly unknown[])),
    fc.array(tie('value')),
    fc.dictionary(name, tie('value')),
  ),
}));
const item = fc.dictionary(name, value);
const names = fc.dictionary(name, fc.string());

/** A value as the protocol has it. */
const digits = fc.oneof(number.filter(Number.isFinite).map(String), fc.bigInt().map(String), fc.constant('1.5E-130'));
const base64 = bytes.map((given) => Buffer.from(given).toString('base64'));
const { attribute } = fc.letrec((tie) => ({
  attribute: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.record({ S: fc.string({ unit: 'binary' }) }),
    fc.record({ N: digits }),
    fc.record({ B: base64 }),
    fc.record({ BOOL: fc.boolean() }),
    fc.constant({ NULL: true }),
    fc.record({ SS: fc.array(fc.string(), some) }),
    fc.record({ NS: fc.array(digits, some) }),
    fc.record({ BS: fc.array(base64, some) }),
    fc.record({ L: fc.array(tie('attribute')) }),
    fc.record({ M: fc.dictionary(fc.oneof(name, fc.constantFrom('B', 'BS', 'L', 'M')), tie('attribute')) }),
  ),
}));
const stored = fc.dictionary(name, attribute);

describe('the client sends and reads what the document client of the AWS SDK does', () => {
  const runs = { numRuns: 150, seed: 20261122 };
  const TableName = 'T';

  test('GetItem', () =>
    fc.assert(
      fc.asyncProperty(item, names, stored, async (Key, ExpressionAttributeNames, Item) => {
        const input = { TableName, Key, ExpressionAttributeNames, ConsistentRead: true, ProjectionExpression: '#a' };
        await same((db) => db.get(input), { Item });
      }),
      runs,
    ));

  test('PutItem', () =>
    fc.assert(
      fc.asyncProperty(item, item, async (Item, ExpressionAttributeValues) => {
        await same((db) => db.put({ TableName, Item, ConditionExpression: 'a', ExpressionAttributeValues }));
        await same((db) => db.put({ TableName, Item }));
      }),
      runs,
    ));

  test('UpdateItem', () =>
    fc.assert(
      fc.asyncProperty(item, item, stored, async (Key, ExpressionAttributeValues, Attributes) => {
        const input = { TableName, Key, UpdateExpression: 'SET a = :a', ReturnValues: 'ALL_NEW' as const };
        await same((db) => db.update({ ...input, ExpressionAttributeValues }), { Attributes });
      }),
      runs,
    ));

  test('Query', () =>
    fc.assert(
      fc.asyncProperty(item, item, fc.array(stored), stored, async (start, values, Items, LastEvaluatedKey) => {
        const input = { TableName, IndexName: 'i', Limit: 2, ScanIndexForward: false, KeyConditionExpression: 'a' };
        const more = { ExclusiveStartKey: start, ExpressionAttributeValues: values };
        await same((db) => db.query({ ...input, ...more }), { Items, LastEvaluatedKey });
      }),
      runs,
    ));

  test('BatchGetItem', () =>
    fc.assert(
      fc.asyncProperty(fc.array(item), fc.array(stored), fc.array(stored), async (Keys, items, left) => {
        const RequestItems = { T: { Keys, ConsistentRead: true } };
        const UnprocessedKeys = left.length > 0 ? { T: { Keys: left, ConsistentRead: true } } : {};
        await same((db) => db.batchGet({ RequestItems }), { Responses: { T: items }, UnprocessedKeys });
      }),
      runs,
    ));

  test('an item of 400 KB, both ways', async () => {
    const result = 'ä"\\\u0000😀'.repeat(40_000);
    const { sent } = await same((db) => db.put({ TableName, Item: { result } }));
    expect(sent).toMatchObject({ target: 'DynamoDB_20120810.PutItem', body: { Item: { result: { S: result } } } });
    const read = await same((db) => db.get({ TableName, Key: {} }), { Item: { result: { S: result } } });
    expect(read.got).toEqual({ Item: { result } });
  });

  test('binary, numbers, sets and what is empty', async () => {
    const Item = {
      ...{ none: '', nothing: null, left: undefined, list: [], map: {}, zero: 0, no: false },
      ...{ bytes: new Uint8Array([0, 255]), buffer: Buffer.from('b'), empty: new Uint8Array() },
      ...{ set: new Set(['a', '']), numbers: new Set([1, 2]), binaries: new Set([new Uint8Array([7])]) },
    };
    const { sent } = await same((db) => db.put({ TableName, Item }));
    expect((sent as unknown as { body: object }).body).toEqual({
      TableName,
      Item: {
        ...{ none: { S: '' }, nothing: { NULL: true }, list: { L: [] }, map: { M: {} }, zero: { N: '0' } },
        ...{ no: { BOOL: false }, bytes: { B: 'AP8=' }, buffer: { B: 'Yg==' }, empty: { B: '' } },
        ...{ set: { SS: ['a', ''] }, numbers: { NS: ['1', '2'] }, binaries: { BS: ['Bw=='] } },
      },
    });
    const given = { Item: { big: { N: '12345678901234567890.5' }, bytes: { B: 'AP8=' }, all: { BS: ['Bw=='] } } };
    const { got } = await same((db) => db.get({ TableName, Key: {} }), given);
    expect(got).toEqual({
      Item: { big: 12345678901234567000, bytes: new Uint8Array([0, 255]), all: new Set([new Uint8Array([7])]) },
    });
  });
});
