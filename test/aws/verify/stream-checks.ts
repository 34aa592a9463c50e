import { setTimeout as sleep } from 'node:timers/promises';
import { modernMessage, readSse, TASKS } from '../../support/clients.ts';
import { type Check, must } from './check.ts';
import type { VerifyClient } from './client.ts';

const LEGACY = { 'mcp-protocol-version': '2025-11-25' };

/** What no document of AWS says of streamed answers (docs/architecture/requests.md, "What Lambda keeps back"). */
export const streamChecks: readonly Check[] = [
  {
    name: 'a notification, a preflight and a GET without a stream are answered to their end',
    async run({ client, within }) {
      const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
      const requests = [
        ['a notification', 202, () => client.send('POST', initialized, LEGACY)],
        ['OPTIONS', 200, () => client.send('OPTIONS', undefined, { origin: 'http://localhost:1' })],
        ['GET', 405, () => client.send('GET', undefined, LEGACY)],
      ] as const;
      const seen: string[] = [];
      for (const [name, status, send] of requests) {
        const since = performance.now();
        const answer = await send();
        await answer.text();
        const took = Math.round(performance.now() - since);
        must(answer.status === status, `${name}: HTTP ${answer.status}`);
        must(took <= within.end, `${name} took ${took} ms to its end`);
        seen.push(`${name} ${took} ms`);
      }
      return seen.join(', ');
    },
  },
  {
    name: 'a question comes on the stream of tasks/result when a poll shows it, not with the end of the stream',
    async run({ client, nap, within }) {
      const headers = await openSession(client);
      const call = { name: 'ask', arguments: { ms: nap / 20 }, task: {} };
      const started = await client.send('POST', rpc('tools/call', call), headers);
      const { taskId } = ((await started.json()) as { result: { task: { taskId: string } } }).result.task;
      const stream = questionTime(client, rpc('tasks/result', { taskId }), headers);
      const [asked, shown] = await Promise.all([stream, statusTime(client, taskId)]);
      const late = Math.round(asked - shown);
      await client.request('tasks/cancel', { taskId });
      must(late <= within.question, `it came ${late} ms after the poll`);
      return `${late} ms after the poll`;
    },
  },
  {
    name: 'the stream of a client that leaves ends with its hold, and counts for its owner until then',
    async run({ client, nap, within }) {
      const taskId = await client.start('nap', { ms: nap });
      const since = performance.now();
      await leave(client, taskId, 1_000);
      // The server takes one stream of each owner.
      await leave(client, taskId, 0);
      const took = Math.round(performance.now() - since);
      must(took <= within.left, `after ${took} ms it still counts`);
      return `${Math.round(took / 1_000)} s after it came`;
    },
  },
];

let nextId = 1;
const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: `v${nextId++}`, method, params });

/** The headers of a new 2025-11-25 session whose client fills in forms. */
async function openSession(client: VerifyClient): Promise<Record<string, string>> {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'verify', version: '1' },
  };
  const { headers } = await client.send('POST', rpc('initialize', params));
  return {
    ...LEGACY,
    'mcp-session-id': headers.get('mcp-session-id') ?? '',
    accept: 'application/json, text/event-stream',
  };
}

/** When a question comes on the stream, resumed as a client does. Never, if the answer comes before one. */
async function questionTime(client: VerifyClient, body: object, headers: Record<string, string>): Promise<number> {
  let lastId: string | undefined;
  for (let stream = await client.send('POST', body, headers); ; ) {
    for await (const { id, data } of readSse(stream)) {
      lastId = id ?? lastId;
      if (data === '') continue;
      const { method } = data as { readonly method?: string };
      if (method === 'elicitation/create') return performance.now();
      if (method === undefined) return Number.POSITIVE_INFINITY;
    }
    stream = await client.send('GET', undefined, { ...headers, 'last-event-id': lastId });
  }
}

/** When a poll first shows that the task asks. Throws if the task ends. */
async function statusTime(client: VerifyClient, taskId: string): Promise<number> {
  for (;;) {
    const { status, error } = await client.request('tasks/get', { taskId });
    if (status === 'input_required') return performance.now();
    must(status === 'working', `the task is ${status}: ${JSON.stringify(error)}`);
    await sleep(100);
  }
}

/** Opens a stream of a task once the server takes one more, and leaves it after so many ms. */
async function leave(client: VerifyClient, taskId: string, ms: number): Promise<void> {
  const params = { notifications: { taskIds: [taskId] } };
  for (;;) {
    const { body, headers } = modernMessage('subscriptions/listen', params, { capabilities: TASKS });
    const leaves = new AbortController();
    const { status } = await client.send('POST', body, { ...headers, accept: 'text/event-stream' }, leaves.signal);
    if (status === 200) await sleep(ms);
    leaves.abort();
    if (status === 200) return;
    must(status === 429, `listen: HTTP ${status}`);
    await sleep(500);
  }
}
