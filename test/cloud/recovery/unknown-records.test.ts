import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { newTaskKey } from '../../../functions/tasks/ids.ts';
import type { TaskKey } from '../../../functions/tasks/record.ts';
import { taskStore } from '../../../functions/tasks/table/store.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import { legacySession, modernMessage, modernRequest, openStream } from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';
import { dynamoDbOf } from '../../support/dynamodb.ts';

/** A rollback leaves records that the older code does not know. */
const logged: string[] = [];
const cloud = useCloud('assembly', { movableClock: true, onLog: (_source, line) => void logged.push(line) });
const url = () => `${cloud().url}/mcp`;
const table = () => cloud().tables[0] ?? '';
const client = () => {
  const credentials = { accessKeyId: 'administrator', secretAccessKey: 'test' };
  return DynamoDBDocumentClient.from(
    new DynamoDBClient({ endpoint: cloud().endpoint, region: cloud().region, credentials }),
  );
};
const put = (Item: object) => client().send(new PutCommand({ TableName: table(), Item: { ...Item } }));
const stored = async ({ owner, taskId }: TaskKey) =>
  (await client().send(new GetCommand({ TableName: table(), Key: { owner, taskId } }))).Item;

const task = { tool: 'echo', ttl: 3_600_000, timeout: 1_800_000, accepts: [], legacy: true };
const newKey = (session: string) => newTaskKey({ kind: 'anonymous', session }, cloud().clock.now());
/** A record as a newer release might write it. */
const ofLater = (session: string) => ({
  ...create(newKey(session), task, cloud().clock.now()),
  ...{ version: 2, status: 'paused', pausedAt: 1 },
});
/** A session as the endpoint knows it: the id that the client holds is signed. */
const newSession = async () => {
  const session = await legacySession(url());
  const { taskId } = (await session.request('tools/call', { name: 'ask', task: {} })).body.result.task;
  return { ...session, first: taskId, owner: `session#${taskId.slice(0, 26)}` };
};
const under = <T extends object>(owner: string, record: T & TaskKey) => ({
  ...record,
  owner,
  taskId: `${owner.slice(8)}_${record.taskId.slice(-36)}`,
});

describe('a record that this release does not understand', () => {
  test('is left out of a list, and a request for it is an error that says why', async () => {
    const session = await newSession();
    const later = under(session.owner, ofLater('x'));
    const ghost = { owner: session.owner, taskId: `${session.owner.slice(8)}_${'z'.repeat(36)}`, statusMessage: 'x' };
    await put(later);
    await put(ghost);
    const { tasks } = (await session.request('tasks/list')).body.result;
    expect(tasks.map(({ taskId }: { taskId: string }) => taskId)).toEqual([session.first]);
    for (const { taskId } of [later, ghost]) {
      for (const method of ['tasks/get', 'tasks/cancel', 'tasks/result']) {
        const { error } = (await session.request(method, { taskId }, { accept: 'application/json' })).body;
        expect(error).toMatchObject({ code: -32603, data: { reason: 'RecordUnknown' } });
      }
    }
    expect(await stored(later)).toEqual(later);
  });

  test('is left out of a stream, which shows the others (E-25)', async () => {
    const { taskId } = (await modernRequest(url(), 'tools/call', { name: 'ask' })).body.result;
    const later = ofLater('x');
    const id = later.taskId.slice(-36);
    const anonymous = { ...later, owner: `task#${id}`, taskId: id };
    await put(anonymous);
    const { body, headers } = modernMessage('subscriptions/listen', {
      notifications: { taskIds: [anonymous.taskId, taskId] },
    });
    const stream = await openStream(url(), body, headers);
    for await (const { data } of stream.events) {
      const message = data as { method?: string; params: { notifications: object } };
      if (message.method !== 'notifications/subscriptions/acknowledged') continue;
      expect(message.params.notifications).toEqual({ taskIds: [taskId] });
      break;
    }
    stream.close();
  });

  test('is postponed by the sweep without an error, unchanged for the release that knows it', async () => {
    const later = { ...ofLater('a session'), tool: 'ask' };
    await put(later);
    cloud().clock.advance?.(20 * 60_000);
    const from = logged.length;
    await cloud().schedules.fire('ServerReconcilerSweep');
    const now = cloud().clock.now();
    const seen = await stored(later);
    expect(seen).toEqual({ ...later, dueAt: seen?.dueAt });
    expect(seen?.dueAt).toBeGreaterThan(now + 200_000);
    expect(logged.slice(from).filter((line) => line.includes('sweep_errors'))).toEqual([]);

    // After the roll forward, the newer release continues with it, and writes a record that this release knows.
    const key = { owner: later.owner, taskId: later.taskId };
    const back = { TableName: table(), Key: key, UpdateExpression: 'SET #s = :s, #v = :v' };
    const names = { '#s': 'status', '#v': 'version' };
    await client().send(
      new UpdateCommand({
        ...back,
        ...{ ExpressionAttributeNames: names, ExpressionAttributeValues: { ':s': 'working', ':v': 1 } },
      }),
    );
    expect(await taskStore(dynamoDbOf(cloud(), 'administrator'), table()).get(key)).toMatchObject({
      status: 'working',
    });
  });
});
