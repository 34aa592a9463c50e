import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { modernMessage, TASKS } from '../../../support/clients.ts';
import { fakeServer, manifest } from '../support/fake-server.ts';
import { endpoint } from '../support/posted.ts';

const START = 1_700_000_000_000;
const BOTH = 'application/json, text/event-stream';

/** Time passes only while the server sleeps, and 100 tasks work for ever. */
async function setup() {
  let now = START;
  const asleep = { count: 0, looks: 0 };
  const { server, records } = fakeServer({
    now: () => now,
    async sleep(ms) {
      asleep.count++;
      await setImmediate();
      now += ms;
      asleep.count--;
    },
  });
  const { get, getMany } = server.store;
  server.store.get = (key) => {
    asleep.looks++;
    return get(key);
  };
  server.store.getMany = (keys) => {
    asleep.looks++;
    return getMany(keys);
  };

  async function send(headers: Record<string, string | undefined>, body: object) {
    const text = JSON.stringify(body);
    return endpoint({ method: 'POST', headers: headers as Record<string, string>, body: text }, server);
  }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const { headers: first } = await send({}, { jsonrpc: '2.0', id: 0, method: 'initialize', params });
  const legacy = (method: string, params_: object) =>
    send(
      { accept: BOTH, 'mcp-session-id': first['mcp-session-id'], 'mcp-protocol-version': '2025-11-25' },
      { jsonrpc: '2.0', id: 1, method, params: params_ },
    );
  const modern = (method: string, params_: Record<string, unknown>, capabilities: object = TASKS) => {
    const { body, headers } = modernMessage(method, params_, { capabilities });
    Object.assign(body.params._meta, { progressToken: 1 });
    return send({ accept: BOTH, ...headers }, body);
  };
  const call = { name: 'optional', arguments: {} };
  for (let i = 0; i < 100; i++) await modern('tools/call', call);
  const taskIds = records.ids();
  await legacy('tools/call', { ...call, task: {} });
  const taskId = records.ids().at(-1) ?? '';
  const streams: Record<string, () => ReturnType<typeof send>> = {
    'tasks/result': () => legacy('tasks/result', { taskId }),
    'tools/call, 2025-11-25': () => legacy('tools/call', call),
    'tools/call, 2026-07-28': () => modern('tools/call', call, {}),
    'subscriptions/listen': () => modern('subscriptions/listen', { notifications: { taskIds } }),
  };
  return { asleep, records, taskIds, modern, now: () => now, streams };
}

const STREAMS = ['tasks/result', 'tools/call, 2025-11-25', 'tools/call, 2026-07-28', 'subscriptions/listen'];

async function bodyOf({ streams }: Awaited<ReturnType<typeof setup>>, name: string) {
  const reply = await streams[name]?.();
  if (reply === undefined || typeof reply.body === 'string') throw new Error(`${name} is no stream`);
  return reply.body;
}

describe.each(STREAMS)('%s', (name) => {
  test('a reader that stops reading: the stream ends with its hold', async () => {
    const here = await setup();
    const body = await bodyOf(here, name);
    const still = new Writable({ highWaterMark: 1, write: () => {} });
    const piped = pipeline(body, still).catch((error: Error) => error.message);
    let quiet = 0;
    for (; quiet < 50 && here.now() < START + 10 * manifest.holdCap; quiet++) {
      await setImmediate();
      if (here.asleep.count > 0) quiet = 0;
    }
    expect(quiet).toBe(50);
    expect(here.now() - START).toBeLessThanOrEqual(manifest.holdCap + 1_000);
    still.destroy();
    expect(await piped).toContain('close');
  });
});

test('what a reader does not take is not made: of 100 results of 100 KB only some are held', async () => {
  const here = await setup();
  for (const record of here.records.all()) {
    const result = JSON.stringify('x'.repeat(100_000));
    here.records.set({ ...record, status: 'completed', result });
  }
  const body = await bodyOf(here, 'subscriptions/listen');
  const still = new Writable({ highWaterMark: 1, write: () => {} });
  const piped = pipeline(body, still).catch(() => {});
  for (let i = 0; i < 300; i++) await setImmediate();
  expect(body.readableLength + still.writableLength).toBeGreaterThan(100_000);
  expect(body.readableLength + still.writableLength).toBeLessThan(500_000);
  still.destroy();
  await piped;
});
