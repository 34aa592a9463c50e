import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import {
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  type GetCommandInput,
  PutCommand,
  QueryCommand,
  type QueryCommandInput,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { RUN_WRITES } from '../../../functions/tasks/attributes.ts';
import { taskStore } from '../../../functions/tasks/table/store.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import { cancel } from '../../../functions/tasks/transitions/end.ts';
import { modernRequest } from '../../support/clients.ts';
import { toolFunction, useCloud } from '../../support/cloud.ts';
import { dynamoDbOf } from '../../support/dynamodb.ts';

const cloud = useCloud();
const url = () => `${cloud().url}/mcp`;
const key = { owner: 'o', taskId: 't' };
const named = (name: string) => expect.objectContaining({ name });
const denied = named('AccessDeniedException');

const table = () => cloud().tables[0] ?? '';
const tool = () => {
  const credentials = { accessKeyId: toolFunction(), secretAccessKey: 'test' };
  const client = new DynamoDBClient({ endpoint: cloud().endpoint, region: cloud().region, credentials });
  return DynamoDBDocumentClient.from(client);
};
const read = (more: Partial<GetCommandInput>) => tool().send(new GetCommand({ TableName: table(), Key: key, ...more }));
const set = (attribute: string, value: unknown, Key: object, more: object = {}) => ({
  ...{ TableName: table(), Key, UpdateExpression: 'SET #a = :a' },
  ...{ ExpressionAttributeNames: { '#a': attribute }, ExpressionAttributeValues: { ':a': value } },
  ...more,
});
const update = (...all: Parameters<typeof set>) => tool().send(new UpdateCommand(set(...all)));

describe('with the credentials of its function, a tool', () => {
  const beside = { ...key, owner: `progress#${key.owner}` };
  const written = RUN_WRITES.filter((name) => name !== 'owner' && name !== 'taskId');
  beforeAll(async () => {
    const task = { tool: 't', ttl: 60_000, timeout: 60_000, accepts: [], legacy: false };
    await taskStore(dynamoDbOf(cloud(), 'administrator'), table()).create(create(key, task, Date.now()));
  });

  test('reads the attributes that the tool library reads, reports, and stores steps', async () => {
    const store = taskStore(dynamoDbOf(cloud(), toolFunction()), table());
    const run = { ...key, round: 1, deadline: Date.now() };
    expect(await store.readStatus(key)).toEqual({ status: 'working', round: 1 });
    expect(await store.report(run, { message: 'half of it', progress: 1, total: 2 }, Date.now())).toBe(true);
    expect(await store.report(run, { message: 'almost' }, Date.now())).toBe(true);
    const entry = { kind: 'step', name: 's', value: '1', variables: '{}', round: 1, order: 1 } as const;
    expect(await store.writeEntry(run, entry)).toBe(true);
    expect(await store.writeEntry(run, { ...entry, name: 'begun', begun: 'run' })).toBe(true);
    expect(await store.writeEntry(run, { ...entry, name: 'begun' }, 'run')).toBe(true);
    expect(await store.readEntry(run, entry)).toEqual(entry);
    expect((await store.readJournal(run)).entries).toEqual([{ ...entry, name: 'begun' }, entry]);
  });

  test('reads nothing else: no whole record, and no other attribute', async () => {
    await expect(read({})).rejects.toEqual(denied);
    await expect(read({ Key: beside })).rejects.toEqual(denied);
    await expect(read({ ProjectionExpression: 'arguments' })).rejects.toEqual(denied);
    await expect(read({ AttributesToGet: ['result'] })).rejects.toEqual(denied);
    await expect(read({ Key: beside, ProjectionExpression: 'statusMessage' })).rejects.toEqual(denied);
  });

  test('queries nothing but the journal: no record, no index, no other attribute, no whole item', async () => {
    const journal = {
      ...{ TableName: table(), KeyConditionExpression: '#owner = :owner', Select: 'SPECIFIC_ATTRIBUTES' as const },
      ...{ ExpressionAttributeNames: { '#owner': 'owner' }, ExpressionAttributeValues: { ':owner': beside.owner } },
      ProjectionExpression: 'taskId',
    };
    const query = (more: Partial<QueryCommandInput>) => tool().send(new QueryCommand({ ...journal, ...more }));
    expect((await query({})).Items).not.toEqual([]);
    const of = (owner: string) => ({ ExpressionAttributeValues: { ':owner': owner } });
    for (const owner of [key.owner, '', 'progress', 'o progress#']) {
      await expect(query(of(owner)), owner).rejects.toEqual(denied);
    }
    for (const attribute of ['statusMessage', 'arguments', 'result', 'asked', 'inputResponses']) {
      await expect(query({ ProjectionExpression: attribute }), attribute).rejects.toEqual(denied);
      await expect(query({ FilterExpression: `attribute_exists(${attribute})` }), attribute).rejects.toEqual(denied);
    }
    const whole = { ProjectionExpression: undefined, Select: 'ALL_ATTRIBUTES' as const };
    await expect(query(whole)).rejects.toEqual(denied);
    await expect(query({ ...whole, Select: undefined })).rejects.toEqual(denied);
    await expect(query({ ...whole, Select: 'COUNT' })).rejects.toEqual(denied);
    const status = { KeyConditionExpression: '#s = :owner', ExpressionAttributeNames: { '#s': 'status' } };
    await expect(query({ ...status, ...of('working'), IndexName: 'status' })).rejects.toEqual(denied);
  });

  test('writes no attribute of a record, not even one that it may write beside it (C-10)', async () => {
    const store = taskStore(dynamoDbOf(cloud(), 'administrator'), table());
    const record = await store.get(key);
    const attributes = [...Object.keys(record ?? {}), ...written, 'result', 'error', 'asked', 'arguments', 'expiresAt'];
    for (const attribute of attributes.filter((name) => name !== 'owner' && name !== 'taskId')) {
      await expect(update(attribute, 'x', key), attribute).rejects.toEqual(denied);
      const remove = { UpdateExpression: 'REMOVE #a', ExpressionAttributeValues: undefined };
      await expect(update(attribute, 'x', key, remove), attribute).rejects.toEqual(denied);
    }
    expect(await store.get(key)).toEqual(record);
  });

  test.each([
    ['put', () => new PutCommand({ TableName: table(), Item: { ...beside, round: 1 } })],
    ['delete', () => new DeleteCommand({ TableName: table(), Key: beside })],
  ])('cannot %s an item, not even beside a record', async (_what, command) => {
    await expect(tool().send(command() as PutCommand)).rejects.toEqual(denied);
  });

  test('writes no record in a transaction with an item that it may write', async () => {
    const both = [{ Update: set('round', 1, beside) }, { Update: set('round', 7, key) }];
    await expect(tool().send(new TransactWriteCommand({ TransactItems: both }))).rejects.toEqual(denied);
  });

  test('writes only items of the tool library, never one that counts as a task', async () => {
    for (const attribute of [...written, 'expiresAt']) await update(attribute, 1, beside);
    for (const attribute of ['status', 'due', 'dueAt', 'tool', 'taken', 'result']) {
      await expect(update(attribute, 'x', beside), attribute).rejects.toEqual(denied);
    }
    await expect(update('round', 1, beside, { ReturnValues: 'ALL_OLD' })).rejects.toEqual(denied);
  });

  test('writes nothing beside a partition whose name only has the prefix in it', async () => {
    for (const owner of ['', 'o', 'progress', 'o progress#', 'Progress#o']) {
      const Key = { owner, taskId: 't' };
      await expect(update('round', 1, Key), owner).rejects.toEqual(denied);
    }
  });

  test('changes nothing that a reader sees of an ended task (C-10)', async () => {
    const store = taskStore(dynamoDbOf(cloud(), 'administrator'), table());
    const cancelled = await store.apply(key, cancel(Date.now()));
    await update('statusMessage', 'Step 4 of 7', beside);
    expect(await store.get(key, { report: true })).toEqual(cancelled);
    expect((await store.list('o', 10)).tasks).toEqual([cancelled]);
  });
});

test('a number that JavaScript cannot hold, written by a tool, keeps no reader from any task', async () => {
  const call = () => modernRequest(url(), 'tools/call', { name: 'sleep', arguments: { ms: 5_000 } });
  const ids = (await Promise.all([call(), call()])).map(({ body }) => body.result.taskId as string);
  const administrator = taskStore(dynamoDbOf(cloud(), 'administrator'), table());
  for (const [i, taskId] of ids.entries()) {
    const run = { owner: `task#${taskId}`, taskId, round: 1, deadline: Date.now() + 60_000 };
    await administrator.report(run, { message: `task ${i}` }, Date.now());
  }
  const client = new DynamoDBClient({
    ...{ endpoint: cloud().endpoint, region: cloud().region },
    credentials: { accessKeyId: toolFunction(), secretAccessKey: 'test' },
  });
  const Key = { owner: { S: `progress#task#${ids[0]}` }, taskId: { S: ids[0] ?? '' } };
  await client.send(
    new UpdateItemCommand({
      ...{ TableName: table(), Key, UpdateExpression: 'SET progress = :n' },
      ExpressionAttributeValues: { ':n': { N: '123456789012345678901234567890' } },
    }),
  );
  for (const [i, taskId] of ids.entries()) {
    const { result } = (await modernRequest(url(), 'tasks/get', { taskId })).body;
    expect(result).toMatchObject({ status: 'working', statusMessage: `task ${i}` });
    await modernRequest(url(), 'tasks/cancel', { taskId });
  }
});
