import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  experimental_createMCPClient as createMCPClient,
  experimental_createMCPEventWebhook as createMCPEventWebhook,
  type Experimental_MCPEvent as Event,
  type Experimental_MCPEventStore as EventStore,
  type Experimental_MCPEventSubscription as EventSubscription,
} from '@ai-sdk/mcp';
import { describe, expect, onTestFinished, test } from 'vitest';
import { RECEIVERS_HERE } from '../../../local/marks.ts';
import { temporaryDir } from '../../../local/test/fixture.ts';
import { randomFaults } from '../../../local/testing.ts';
import { modernRequest } from '../../support/clients.ts';
import { useAssembly, useCloud } from '../../support/cloud.ts';
import { startMoody, takenBy } from './moody.ts';
import { startReceiver } from './receiver.ts';

const assembly = useAssembly('test/cloud/events/unheld-app.ts');
const logged: string[] = [];
const onLog = (_source: string, line: string) => void logged.push(line);
const cloud = useCloud('assembly', { assembly, variables: RECEIVERS_HERE, movableClock: true, onLog });

const TASKS = 4;

/** Each test is another caller: a receiver gets the events of its own tasks only. */
let callers = 0;
const caller = () => {
  callers += 1;
  const signed = `Credential=caller-${callers}/20260409/us-east-1/execute-api/aws4_request, SignedHeaders=host, Signature=0`;
  return { authorization: `AWS4-HMAC-SHA256 ${signed}` };
};
const url = () => `${cloud().url}/mcp`;
type Headers = ReturnType<typeof caller>;
const finishTask = async (headers: Headers) => {
  const params = { name: 'echo', arguments: { text: 'hello' } };
  await modernRequest(url(), 'tools/call', params, { headers });
};

describe('the receiver of the Vercel AI SDK (@ai-sdk/mcp)', () => {
  /** @param file where subscriptions are kept; undefined: in memory */
  function storeIn(file?: string): EventStore {
    const kept = new Map<string, EventSubscription>();
    const all = () =>
      file === undefined || !existsSync(file) ? kept : new Map(JSON.parse(readFileSync(file, 'utf8')));
    const keep = (map: Map<string, EventSubscription>) => {
      if (file !== undefined) writeFileSync(file, JSON.stringify([...map]));
    };
    const change = async (act: (map: Map<string, EventSubscription>) => void) => {
      const map = all() as Map<string, EventSubscription>;
      act(map);
      keep(map);
    };
    return {
      get: async (key) => all().get(key) as EventSubscription | undefined,
      getById: async (id) => [...all().values()].find((one) => (one as EventSubscription).id === id) as never,
      set: (one) => change((map) => void map.set(one.key, one)),
      update: (key, patch) => change((map) => void map.set(key, { ...(map.get(key) as EventSubscription), ...patch })),
      delete: (key) => change((map) => void map.delete(key)),
    };
  }

  /** Serves the handler of the library, unchanged, on a port of this machine. */
  async function serve(store: EventStore, port = 0) {
    const events: Event[] = [];
    const statuses: number[] = [];
    const heard = Promise.withResolvers<void>();
    const webhook = createMCPEventWebhook({
      store,
      onEvent: async ({ event }) => {
        events.push(event);
        heard.resolve();
      },
    });
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const headers = request.headers as Record<string, string>;
      const body = Buffer.concat(chunks);
      const answer = await webhook(new Request(`http://receiver${request.url}`, { method: 'POST', headers, body }));
      statuses.push(answer.status);
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
    });
    await new Promise<void>((ready) => void server.listen(port, '127.0.0.1', ready));
    const stop = async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    };
    return { events, statuses, heard: heard.promise, stop, port: (server.address() as AddressInfo).port };
  }

  async function subscribe(store: EventStore, port: number, headers: Headers) {
    const transport = { type: 'http', url: url(), headers } as const;
    const client = await createMCPClient({ transport, experimental_events: { store } });
    onTestFinished(() => client.close());
    const delivery = { mode: 'webhook', url: `http://127.0.0.1:${port}/hook`, allowInsecureLocalhost: true } as const;
    const granted = await client.experimental_events.subscribe({ name: 'task.finished', delivery });
    return { events: client.experimental_events, id: granted.id };
  }

  test('with its subscriptions in memory it gets task.finished, refreshes and unsubscribes', async () => {
    const headers = caller();
    const store = storeIn();
    const receiver = await serve(store);
    onTestFinished(receiver.stop);
    const { events, id } = await subscribe(store, receiver.port, headers);
    expect(receiver.statuses).toEqual([200]);
    expect((await events.refresh({ id })).id).toBe(id);
    await finishTask(headers);
    await receiver.heard;
    expect(receiver.events).toMatchObject([
      { name: 'task.finished', data: { tool: 'echo', status: 'completed', taskId: expect.any(String) } },
    ]);
    await events.unsubscribe({ id });
    expect(await store.getById(id)).toBeUndefined();
  });

  test('with its subscriptions on disk it gets what came while it was away', async () => {
    const headers = caller();
    const folder = temporaryDir();
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'subscriptions.json');
    const first = await serve(storeIn(file));
    await subscribe(storeIn(file), first.port, headers);
    await first.stop();
    await finishTask(headers);
    await expect.poll(() => logged.join()).toContain('"error":"connection_refused"');
    const second = await serve(storeIn(file), first.port);
    onTestFinished(second.stop);
    // All waits between the attempts meanwhile.
    cloud().clock.advance(30_000);
    await second.heard;
    expect(second.events).toMatchObject([{ name: 'task.finished', data: { tool: 'echo' } }]);
    await expect.poll(() => second.statuses.at(-1)).toBe(204);
  });
});

async function subscribeBy(
  headers: Headers,
  receiver: { readonly url: string; readonly secret: string },
  name = 'task.finished',
) {
  const delivery = { mode: 'webhook', url: receiver.url, secret: receiver.secret };
  const { body } = await modernRequest(url(), 'events/subscribe', { name, delivery }, { headers });
  expect(body.result).toMatchObject({ id: expect.stringMatching(/^sub_/), truncated: false });
}

test('a receiver that verifies by the library standardwebhooks for Node gets task.finished', async () => {
  const receiver = await startReceiver();
  onTestFinished(receiver.stop);
  const headers = caller();
  await subscribeBy(headers, receiver);
  await finishTask(headers);
  const [got] = await receiver.until(1);
  expect(got?.body).toMatchObject({ name: 'task.finished', data: { tool: 'echo', status: 'completed' } });
});

test('events of a tool with eventSummary say what it asks, then what it returned (H-20)', async () => {
  const receiver = await startReceiver();
  onTestFinished(receiver.stop);
  const headers = caller();
  const ask = async (method: string, params: Record<string, unknown>) =>
    (await modernRequest(url(), method, params, { headers })).body.result;
  await subscribeBy(headers, receiver);
  await subscribeBy(headers, receiver, 'task.asks');
  await finishTask(headers);
  const { taskId } = await ask('tools/call', { name: 'ask', arguments: {} });
  const data = async (count: number) => (await receiver.until(count)).map(({ body }) => body.data as object);
  expect(await data(2)).toMatchObject([{ tool: 'echo' }, { tool: 'ask', taskId, summary: 'Really?' }]);
  const inputResponses = { 'r1.confirm': { action: 'accept', content: { ok: true } } };
  await ask('tasks/update', { taskId, inputResponses });
  const [first, , last] = await data(3);
  expect(first).not.toHaveProperty('summary');
  expect(last).toMatchObject({
    taskId,
    status: 'completed',
    summary: expect.stringMatching(/^\{"answer":\{"action":/),
  });
});

/** A Python that has the package standardwebhooks of PyPI. */
const { STANDARD_WEBHOOKS_PYTHON: python } = process.env;
test.skipIf(python === undefined)(
  'a receiver that verifies by standardwebhooks for Python gets task.finished (STANDARD_WEBHOOKS_PYTHON)',
  async () => {
    const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
    const child = spawn(python ?? '', [join(import.meta.dirname, 'receiver.py'), secret]);
    onTestFinished(() => void child.kill());
    const lines: string[] = [];
    let more = Promise.withResolvers<void>();
    child.stdout.on('data', (data) => {
      lines.push(...String(data).split('\n').filter(Boolean));
      more.resolve();
      more = Promise.withResolvers();
    });
    const line = async (number: number) => {
      while (lines.length <= number) await more.promise;
      return lines[number] ?? '';
    };
    const headers = caller();
    await subscribeBy(headers, { url: `http://127.0.0.1:${await line(0)}/hook`, secret });
    await finishTask(headers);
    expect(JSON.parse(await line(1))).toMatchObject({ name: 'task.finished', data: { tool: 'echo' } });
  },
);

/** A small share of `npm run proof -- deliveries`, with the queue, the table and the functions of the embedded cloud. */
test('with random faults no event is lost or comes out of order', async () => {
  const [seed, statuses] = [2, [0, 0, 503, 204, 302, 500, 0]];
  const headers = caller();
  const receiver = await startMoody(statuses);
  const subscribe = () =>
    subscribeBy(headers, { url: receiver.url, secret: `whsec_${Buffer.alloc(32, 3).toString('base64')}` });
  await subscribe();
  const struck: string[] = [];
  const isSender = (called: string) => /^Server(Events|TaskEvents)/.test(called);
  const services = ['dynamodb', 'sqs', 'lambda', 'streams'];
  cloud().faults.use(
    randomFaults({
      ...{ seed, rate: 0.15, only: ({ service, caller: by }) => isSender(by) && services.includes(service) },
      onStrike: ({ service, operation, at }) => void struck.push(`${service} ${operation} ${at}`),
    }),
  );
  onTestFinished(() => cloud().faults.clear());
  for (let i = 0; i < TASKS; i++) await finishTask(headers);
  await expect
    .poll(async () => {
      // On a busy machine a day may pass here: a subscription ends if it is not refreshed.
      await subscribe();
      cloud().clock.advance(20_000);
      return takenBy(receiver.arrivals).length;
    })
    .toBe(TASKS);
  expect(takenBy(receiver.arrivals)).toEqual(takenBy(receiver.arrivals).toSorted());
  const copies = Map.groupBy(receiver.arrivals, ({ webhookId }) => webhookId);
  expect(copies.size).toBe(TASKS);
  for (const same of copies.values()) expect(new Set(same.map(({ body }) => body)).size).toBe(1);
  expect(struck.length).toBeGreaterThan(0);
});
