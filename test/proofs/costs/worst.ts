import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, paginateScan, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { limits } from '../../../functions/tasks/limits.ts';
import type { Cloud } from '../../../local/cloud.ts';
import { clientConfig } from '../../../local/test/fixture.ts';
import { unitsSince } from '../../bench/units/meter.ts';
import { legacySession, modernMessage, modernRequest, POSTED, poll, runTask } from '../../support/clients.ts';

/** What one request made the endpoint do. */
export interface Cost {
  /** Read units of DynamoDB. */
  readonly read: number;
  /** Write units, those of indexes included. */
  readonly write: number;
  /** Bytes of log. */
  readonly log: number;
  /** Bytes of the answer. */
  readonly out: number;
}

interface Request {
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

const OPEN = 100;
const FINISHED = 50;
const AT_ONCE = 5;
/** Together with its frames more than one stream sends, and each as large as a plain function may return. */
const LARGE = 240_000;
/** A container writes its lines while and after it answers. */
const LINES = 300;
const RANDOM = 'abcdefgh'.repeat(5).slice(0, 33);

/**
 * The most that a request of each method can cost, by method and revision as docs/limits.md has them: each in the state of
 * the table that makes it dearest. `logged` is how many bytes the endpoint has logged so far.
 */
export async function worstCosts(cloud: Cloud, logged: () => number): Promise<Map<string, Cost>> {
  const url = `${cloud.url}/mcp`;
  const costs = new Map<string, Cost>();

  /** Adds what a request costs, if that is more than what is known of its row. */
  async function add(row: string, { body, headers }: Request, method = 'POST', status = 200) {
    const [mark, before] = [cloud.calls.mark(), logged()];
    const all = Object.entries({ ...POSTED, ...headers }).filter(
      (one): one is [string, string] => one[1] !== undefined,
    );
    const response = await fetch(url, {
      method,
      headers: all,
      ...(method === 'POST' && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status !== status) throw new Error(`${row}: ${response.status} ${text.slice(0, 500)}`);
    await sleep(LINES);
    const { read, write, index } = unitsSince(cloud, mark, 'endpoint');
    const now: Cost = { read, write: write + index, log: logged() - before, out: Buffer.byteLength(text) };
    const known = costs.get(row) ?? { read: 0, write: 0, log: 0, out: 0 };
    const most = (name: keyof Cost) => Math.max(known[name], now[name]);
    costs.set(row, { read: most('read'), write: most('write'), log: most('log'), out: most('out') });
    return text;
  }
  const modern = (method: string, params: Record<string, unknown> = {}, capabilities?: object) =>
    add(`${method}, 2026-07-28`, modernMessage(method, params, capabilities && { capabilities }));
  const session = await legacySession(url);
  let id = 1_000;
  const legacy = (method: string, params: object = {}, headers: object = {}) =>
    add(`${method}, 2025-11-25`, {
      body: { jsonrpc: '2.0', id: id++, method, params },
      headers: { ...session.headers, ...headers },
    });
  const called = async (name: string, args: object): Promise<string> =>
    (await session.request('tools/call', { name, arguments: args, task: {} })).body.result.task.taskId;
  const until = async (taskId: string, is: (status: string) => boolean): Promise<void> => {
    while (!is((await session.request('tasks/get', { taskId })).body.result.status)) await sleep(50);
  };

  // Whoever finds a task: large results, of a function that stores nothing.
  const taskIds: string[] = await some(limits.listenTasks, async () => {
    const task = await runTask(url, 'big', { bytes: LARGE });
    if (task.status !== 'completed') throw new Error(JSON.stringify(task).slice(0, 500));
    return task.taskId as string;
  });
  const [finished = ''] = taskIds;
  await modern('subscriptions/listen', { notifications: { taskIds } });
  const unknown = Array.from({ length: limits.listenTasks }, (_, i) => `${RANDOM}${String(i).padStart(3, '0')}`);
  await modern('subscriptions/listen', { notifications: { taskIds: unknown } });
  await modern('tasks/get', { taskId: finished });
  await modern('tasks/get', { taskId: unknown[0] });
  await modern('tasks/cancel', { taskId: finished });
  await modern('tools/call', { name: 'get_task_result', arguments: { taskId: finished } });
  await modern('tools/call', { name: 'big', arguments: { bytes: LARGE } }, {});

  // Questions with large input, and the largest answer.
  const asks = async (): Promise<string> => {
    const text = 'x'.repeat(150_000);
    const { body } = await modernRequest(url, 'tools/call', { name: 'ask', arguments: { text } });
    await poll(url, body.result.taskId, ({ status }) => status === 'input_required');
    return body.result.taskId;
  };
  const asking = await asks();
  await modern('tasks/get', { taskId: asking });
  await modern('tools/call', { name: 'ask', arguments: { text: 'x'.repeat(150_000) } });
  const content = { ok: true, note: 'x'.repeat(20_000) };
  await modern('tasks/update', { taskId: asking, inputResponses: { 'r1.confirm': { action: 'accept', content } } });
  await modern('tasks/cancel', { taskId: await asks() });

  // One owner: its finished tasks, then as many open ones as it may have, then the notes of its session.
  const own = await some(FINISHED, () => called('big', { bytes: LARGE }));
  for (const taskId of own) await until(taskId, (status) => status === 'completed');
  await legacy('tasks/list');
  await legacy('tasks/result', { taskId: own[0] });
  await legacy('tools/call', { name: 'echo', arguments: {}, task: {} });
  for (let open = 0; open < OPEN; open++) await session.request('tools/call', { name: 'ask', arguments: {}, task: {} });
  await legacy('tools/call', { name: 'ask', arguments: {}, task: {} });
  await legacy('tasks/list');
  await session.request('logging/setLevel', { level: 'debug' });
  await fillNotes(cloud);
  const { tasks } = (await session.request('tasks/list')).body.result;
  const [open] = tasks.filter(({ status }: { status: string }) => status === 'input_required');
  await legacy('tasks/get', { taskId: open.taskId });
  await legacy('tasks/get', { taskId: own[0] });
  await legacy('logging/setLevel', { level: 'info' });
  await legacy('tasks/cancel', { taskId: open.taskId });
  await legacy('tasks/cancel', { taskId: own[0] });
  await add(
    'GET, 2025-11-25',
    { body: undefined, headers: { ...session.headers, accept: 'text/event-stream' } },
    'GET',
  );

  // What reads no task.
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } };
  await add('initialize, 2025-11-25', { body: { jsonrpc: '2.0', id: 1, method: 'initialize', params }, headers: {} });
  for (const method of ['ping', 'tools/list']) await legacy(method);
  for (const method of ['server/discover', 'tools/list']) await modern(method);
  return costs;
}

/** Does something `count` times, a few at once. */
async function some<T>(count: number, run: () => Promise<T>): Promise<T[]> {
  const done: T[] = [];
  const one = async () => {
    while (done.length < count) done.push(await run());
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  return done.slice(0, count);
}

/** Notes of sessions, as full as they may be. */
async function fillNotes(cloud: Cloud): Promise<void> {
  const client = DynamoDBDocumentClient.from(new DynamoDBClient(clientConfig(cloud)));
  const TableName = cloud.tables[0];
  const filter = { FilterExpression: 'taskId = :notes', ExpressionAttributeValues: { ':notes': '#session' } };
  const times = (name: (n: number) => string) =>
    Object.fromEntries(Array.from({ length: limits.sessionStream.notes }, (_, n) => [name(n), Date.now()]));
  const idOf = (n: number) => `${RANDOM}${String(n).padStart(3, '0')}`;
  for await (const { Items = [] } of paginateScan({ client }, { TableName, ...filter })) {
    for (const { owner, taskId } of Items)
      await client.send(
        new UpdateCommand({
          ...{ TableName, Key: { owner, taskId } },
          UpdateExpression: 'SET asked = :asked, waiting = :waiting',
          ExpressionAttributeValues: { ':asked': times((n) => `${idOf(n)} r1.confirm`), ':waiting': times(idOf) },
        }),
      );
  }
}
