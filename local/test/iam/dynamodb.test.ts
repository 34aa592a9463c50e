import { describe, expect, test } from 'vitest';
import { dynamoDbRequests } from '../../iam/dynamodb.ts';

const schema = {
  KeySchema: [
    { AttributeName: 'owner', KeyType: 'HASH' },
    { AttributeName: 'id', KeyType: 'RANGE' },
  ],
  GlobalSecondaryIndexes: [{ IndexName: 'due', KeySchema: [{ AttributeName: 'due', KeyType: 'HASH' }] }],
};
const arnOf = (table: string) => `arn:aws:dynamodb:r:1:table/${table}`;
const ask = (operation: string, input: object) =>
  dynamoDbRequests(operation, { TableName: 'T', ...input }, [{ name: 'T', schema }], arnOf);
const contextOf = (operation: string, input: object) => ask(operation, input)[0]?.context ?? {};
const attributes = (operation: string, input: object) =>
  [contextOf(operation, input)['dynamodb:Attributes'] ?? []].flat().sort();

const Key = { owner: { S: 'me' }, id: { S: '1' } };

describe('the resource of a request', () => {
  test('is the table, its index, or each table of a batch', () => {
    expect(ask('GetItem', { Key })).toMatchObject([{ action: 'dynamodb:GetItem', resource: arnOf('T') }]);
    expect(ask('GetItem', { TableName: arnOf('T'), Key })).toMatchObject([{ resource: arnOf('T') }]);
    expect(ask('Query', { IndexName: 'due' })).toMatchObject([{ resource: `${arnOf('T')}/index/due` }]);
    const batch = { RequestItems: { T: { Keys: [Key] }, U: { Keys: [Key] } } };
    expect(ask('BatchGetItem', batch)).toMatchObject([
      { action: 'dynamodb:BatchGetItem', resource: arnOf('T'), context: { 'dynamodb:LeadingKeys': ['me'] } },
      { action: 'dynamodb:BatchGetItem', resource: arnOf('U') },
    ]);
    expect(ask('BatchWriteItem', { RequestItems: { T: [{ DeleteRequest: { Key } }] } })).toMatchObject([
      { action: 'dynamodb:BatchWriteItem', context: { 'dynamodb:Attributes': ['owner', 'id'] } },
    ]);
  });

  test('of a transaction is the resource of each of its parts', () => {
    const TransactItems = [{ Put: { TableName: 'T', Item: Key } }, { ConditionCheck: { TableName: 'U', Key } }];
    expect(ask('TransactWriteItems', { TransactItems }).map(({ action, resource }) => [action, resource])).toEqual([
      ['dynamodb:PutItem', arnOf('T')],
      ['dynamodb:ConditionCheckItem', arnOf('U')],
    ]);
  });
});

describe('dynamodb:Attributes are all top-level attributes that a call names', () => {
  test('of its key and its item', () => {
    expect(attributes('GetItem', { Key })).toEqual(['id', 'owner']);
    expect(attributes('PutItem', { Item: { ...Key, status: { S: 'working' } } })).toEqual(['id', 'owner', 'status']);
  });

  test('of every kind of expression, plain or by placeholder, and no part of a path', () => {
    const call = {
      Key,
      UpdateExpression: 'SET #a = if_not_exists(#b, :c) + :d, answers.#k.deep = :e REMOVE list[0], gone ADD n :one',
      ConditionExpression: 'attribute_not_exists(#f) AND size(g) BETWEEN :h AND :i AND NOT contains (j, :k)',
      ExpressionAttributeNames: { '#a': 'alpha', '#b': 'beta', '#f': 'phi', '#k': 'key' },
    };
    const named = ['alpha', 'answers', 'beta', 'g', 'gone', 'id', 'j', 'list', 'n', 'owner', 'phi'];
    expect(attributes('UpdateItem', call)).toEqual(named);
    const query = {
      KeyConditionExpression: 'due = :x AND dueAt < :y',
      FilterExpression: 'z <> :z',
      ProjectionExpression: 'p, q',
    };
    expect(attributes('Query', query)).toEqual(['due', 'dueAt', 'p', 'q', 'z']);
  });

  test('also in the parameters that expressions have replaced', () => {
    expect(attributes('UpdateItem', { Key, AttributeUpdates: { status: {} } })).toEqual(['id', 'owner', 'status']);
    expect(attributes('GetItem', { Key, AttributesToGet: ['result'] })).toEqual(['id', 'owner', 'result']);
  });
});

test('dynamodb:Select is what a read returns, also by default; a write has none', () => {
  const select = (operation: string, input: object) => contextOf(operation, input)['dynamodb:Select'];
  expect(select('GetItem', { Key })).toBe('ALL_ATTRIBUTES');
  expect(select('GetItem', { Key, ProjectionExpression: 'id' })).toBe('SPECIFIC_ATTRIBUTES');
  expect(select('Query', { IndexName: 'due' })).toBe('ALL_PROJECTED_ATTRIBUTES');
  expect(select('Query', { Select: 'COUNT' })).toBe('COUNT');
  expect(select('UpdateItem', { Key })).toBeUndefined();
});

test('dynamodb:ReturnValues is there if the call has it', () => {
  expect(contextOf('UpdateItem', { Key, ReturnValues: 'ALL_NEW' })['dynamodb:ReturnValues']).toBe('ALL_NEW');
  expect(contextOf('UpdateItem', { Key })['dynamodb:ReturnValues']).toBeUndefined();
});

test('dynamodb:LeadingKeys are the partition keys that a call names', () => {
  const leading = (operation: string, input: object) => contextOf(operation, input)['dynamodb:LeadingKeys'];
  expect(leading('GetItem', { Key })).toEqual(['me']);
  expect(leading('PutItem', { Item: { ...Key, due: { S: '3' } } })).toEqual(['me']);
  const values = { ExpressionAttributeValues: { ':o': { S: 'you' }, ':i': { S: '1' } } };
  const names = { ExpressionAttributeNames: { '#o': 'owner' } };
  expect(leading('Query', { KeyConditionExpression: '#o = :o AND id > :i', ...values, ...names })).toEqual(['you']);
  expect(leading('Query', { IndexName: 'due', KeyConditionExpression: 'due = :o', ...values })).toEqual(['you']);
  expect(leading('Scan', {})).toBeUndefined();
});
