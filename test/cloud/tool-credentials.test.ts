import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, type GetCommandInput, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { taskStore } from '../../functions/tasks/store.ts';
import { create, progress } from '../../functions/tasks/transitions.ts';
import { useCloud } from '../support/cloud.ts';

const cloud = useCloud();
const key = { owner: 'o', taskId: 't' };
const named = (name: string) => expect.objectContaining({ name });

function clientOf(accessKeyId: string) {
  const credentials = { accessKeyId, secretAccessKey: 'test' };
  const client = new DynamoDBClient({ endpoint: cloud().endpoint, region: cloud().region, credentials });
  return DynamoDBDocumentClient.from(client);
}
/** The embedded cloud knows a function by the name that its template has for it. */
function toolFunction(): string {
  const text = readFileSync(join(inject('assembly'), 'Test.template.json'), 'utf8');
  const { Resources } = JSON.parse(text) as { Resources: Record<string, { Type: string }> };
  const [name] =
    Object.entries(Resources).find(([id, { Type }]) => Type === 'AWS::Lambda::Function' && /^Tools/.test(id)) ?? [];
  return name ?? '';
}
const read = (more: Partial<GetCommandInput>) =>
  clientOf(toolFunction()).send(new GetCommand({ TableName: cloud().tables[0], Key: key, ...more }));

describe('with the credentials of its function, a tool', () => {
  beforeAll(async () => {
    const task = { tool: 't', ttl: 60_000, timeout: 60_000, accepts: [], legacy: false };
    await taskStore(clientOf('administrator'), cloud().tables[0] ?? '').create(create(key, task, Date.now()));
  });

  test('reads of a task what the tool library reads, and reports on it', async () => {
    const store = taskStore(clientOf(toolFunction()), cloud().tables[0] ?? '');
    expect(await store.glimpse(key)).toEqual({ status: 'working', round: 1 });
    expect(await store.applyBlind(key, progress(1, { message: 'half of it' }, Date.now()))).toBe(true);
  });

  test('reads nothing else: no whole record, and no other attribute', async () => {
    await expect(read({})).rejects.toEqual(named('AccessDeniedException'));
    await expect(read({ ProjectionExpression: 'arguments' })).rejects.toEqual(named('AccessDeniedException'));
    await expect(read({ AttributesToGet: ['result'] })).rejects.toEqual(named('AccessDeniedException'));
  });

  test('writes no result, and is handed nothing back', async () => {
    const update = (more: object) =>
      clientOf(toolFunction()).send(
        new UpdateCommand({
          ...{ TableName: cloud().tables[0], Key: key, UpdateExpression: 'SET #a = :a' },
          ...{ ExpressionAttributeNames: { '#a': 'statusMessage' }, ExpressionAttributeValues: { ':a': 'x' } },
          ...more,
        }),
      );
    await expect(update({ ReturnValues: 'ALL_OLD' })).rejects.toEqual(named('AccessDeniedException'));
    const result = { ExpressionAttributeNames: { '#a': 'result' } };
    await expect(update(result)).rejects.toEqual(named('AccessDeniedException'));
  });
});
