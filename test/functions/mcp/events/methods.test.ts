import { expect, test } from 'vitest';
import { positionText } from '../../../../functions/tasks/table/events/log.ts';
import { finished, OWNER, START } from '../../events/support.ts';
import { fakeServer } from '../support/fake-server.ts';
import { legacyCall, modernCall } from '../support/posted.ts';
import { eventsServer, SEP, URL_ } from './support.ts';

const EXTENSION = 'io.modelcontextprotocol/events';

test('server/discover names events at both places where clients look (H-01)', async () => {
  const { capabilities } = (await eventsServer().call('server/discover')).result;
  expect(capabilities).toMatchObject({ events: {}, extensions: { [EXTENSION]: {} } });
});

test('without events: no capability, and each method is -32601 (H-01)', async () => {
  const { server } = fakeServer();
  const { capabilities } = (await modernCall(server, 'server/discover')).result;
  expect(JSON.stringify(capabilities)).not.toContain('events');
  for (const method of ['list', 'subscribe', 'unsubscribe', 'poll', 'stream']) {
    const { error, status } = await modernCall(server, `events/${method}`);
    expect([status, error?.code]).toEqual([404, -32601]);
  }
});

test('events/stream is -32601, and no type lists push (H-04)', async () => {
  const { call } = eventsServer();
  const { error, status } = await call('events/stream', { name: 'task.finished' });
  expect([status, error?.code]).toEqual([404, -32601]);
  const { events } = (await call('events/list')).result;
  expect(events.map(({ delivery }: { delivery: string[] }) => delivery)).toEqual(Array(2).fill(['webhook', 'poll']));
});

test('events/list describes both types with closed schemas, and the tools (H-03)', async () => {
  const { call } = eventsServer();
  const { result } = await call('events/list');
  expect(result).toMatchObject({
    resultType: 'complete',
    events: [
      {
        name: 'task.finished',
        description: expect.any(String),
        inputSchema: {
          additionalProperties: false,
          properties: {
            tool: { enum: ['optional', 'required'] },
            status: { enum: ['completed', 'failed', 'cancelled'] },
          },
        },
        payloadSchema: { type: 'object' },
      },
      { name: 'task.asks', inputSchema: { type: 'object' }, payloadSchema: { type: 'object' } },
    ],
  });
  expect(result.events[1].inputSchema.properties).not.toHaveProperty('status');
  expect((await call('events/list', { cursor: 'x' })).error).toMatchObject({ code: -32602 });
});

test('2025-11-25 has no events', async () => {
  const { server, caller } = eventsServer();
  const allowed = { ...server, manifest: { ...server.manifest, auth: 'anonymous' as const } };
  expect(caller.key).toBe(OWNER);
  expect((await legacyCall(allowed, 'events/list')).error).toMatchObject({ code: -32601 });
});

test('an anonymous caller is refused (H-05)', async () => {
  const { server, subscription } = eventsServer();
  const anonymous = { ...server, manifest: { ...server.manifest, auth: 'anonymous' as const } };
  for (const method of ['events/subscribe', 'events/unsubscribe', 'events/poll']) {
    expect((await modernCall(anonymous, method, subscription())).error).toMatchObject({ code: -32012 });
  }
});

test('after events/unsubscribe nothing is sent; no arguments are {} (H-16)', async () => {
  const { call, subscription, writer, queue, store, items } = eventsServer();
  const { result } = await call('events/subscribe', subscription());
  const { error, result: ended } = await call('events/unsubscribe', { name: 'task.finished', delivery: { url: URL_ } });
  expect(error).toBeUndefined();
  expect(ended).toMatchObject({ resultType: 'complete' });
  await writer().append(OWNER, { at: START, event: finished(1) });
  expect(queue.sent).toEqual([]);
  expect(await store.subscription(OWNER, result.id)).toBeUndefined();
  // Each event of the owner reads all that is there.
  expect(await items.matched(OWNER)).toEqual([]);
});

test('another caller cannot end a subscription (H-11, H-16)', async () => {
  const { call, subscription, store, caller } = eventsServer();
  const { result } = await call('events/subscribe', subscription());
  await call('events/unsubscribe', subscription(), {}, { ...caller, key: 'owner#b' });
  expect(await store.subscription(OWNER, result.id)).toMatchObject({ id: result.id });
});

test('a subscription that was ended can begin again, from a cursor (H-13)', async () => {
  const { call, subscription, writer, got, asked } = eventsServer();
  const { result } = await call('events/subscribe', subscription());
  await call('events/unsubscribe', subscription());
  await writer().append(OWNER, { at: START, event: finished(1) });
  const { result: again } = await call('events/subscribe', subscription({ cursor: result.cursor }));
  expect(again.id).toBe(result.id);
  expect(await got(result.id)).toEqual([finished(1).eventId]);
  expect(asked).toHaveLength(2);
});

test('an unknown subscription: {}, or NotFound if the extension is declared (H-16)', async () => {
  const { call, subscription } = eventsServer();
  expect((await call('events/unsubscribe', subscription())).result).toMatchObject({ resultType: 'complete' });
  const { error } = await call('events/unsubscribe', subscription(), SEP);
  expect(error).toMatchObject({ code: -32023, message: 'NotFound', data: { kind: 'subscription' } });
});

test('events/poll begins with the cursor of now, and has its five members (H-17)', async () => {
  const { call, writer } = eventsServer();
  const first = (await call('events/poll', { name: 'task.finished', cursor: null })).result;
  expect(first).toMatchObject({ events: [], truncated: false, hasMore: false, nextPollMs: 5_000 });
  await writer().append(OWNER, { at: START, event: finished(1) });
  const { result } = await call('events/poll', { name: 'task.finished', cursor: first.cursor });
  expect(result.events).toMatchObject([
    { eventId: finished(1).eventId, name: 'task.finished', data: { taskId: 't1' } },
  ]);
  expect(result.events[0]).not.toHaveProperty('cursor');
  const empty = (await call('events/poll', { name: 'task.finished', cursor: result.cursor })).result;
  expect(empty).toMatchObject({ events: [], truncated: false, hasMore: false, cursor: result.cursor });
});

test('events/poll gives pages of maxEvents, filtered by name, arguments and scopes (H-15)', async () => {
  const { call, writer, caller } = eventsServer();
  const { cursor } = (await call('events/poll', { name: 'task.finished' })).result;
  const more = [{}, { status: 'failed' }, { name: 'task.asks' }, { scopes: ['ops'], status: 'failed' }];
  for (const [n, one] of more.entries()) await writer().append(OWNER, { at: START, event: finished(n, one) });
  const page = { name: 'task.finished', arguments: { status: 'failed' }, cursor };
  const numbers = (result: { events: { eventId: string }[] }) =>
    result.events.map((one) => Number(one.eventId.slice(4)));
  const first = (await call('events/poll', { ...page, maxEvents: 2 })).result;
  expect([numbers(first), first.hasMore, first.truncated]).toEqual([[1], true, false]);
  const rest = (await call('events/poll', { ...page, cursor: first.cursor })).result;
  expect([numbers(rest), rest.hasMore]).toEqual([[3], false]);
  const narrow = (await call('events/poll', page, {}, { ...caller, scopes: [] })).result;
  expect(numbers(narrow)).toEqual([1]);
});

test('events/poll from a cursor of an older log is truncated once, and no error (H-13)', async () => {
  const { call, writer } = eventsServer();
  const poll = async (cursor: string) => (await call('events/poll', { name: 'task.finished', cursor })).result;
  const first = await poll('of another server');
  expect(first).toMatchObject({ events: [], truncated: true });
  expect(await poll(first.cursor)).toMatchObject({ truncated: false });
  await writer().append(OWNER, { at: START, event: finished(1) });
  expect(await poll(first.cursor)).toMatchObject({ truncated: false, events: [{ eventId: finished(1).eventId }] });
  expect(await poll(positionText(START + 99))).toMatchObject({ truncated: true, events: [] });
});

test('events of other owners are in no poll (H-15)', async () => {
  const { call, writer, caller } = eventsServer();
  const other = { ...caller, key: 'owner#b' };
  const { cursor } = (await call('events/poll', { name: 'task.finished' }, {}, other)).result;
  await call('events/poll', { name: 'task.finished' });
  await writer().append(OWNER, { at: START, event: finished(1) });
  expect((await call('events/poll', { name: 'task.finished', cursor }, {}, other)).result.events).toEqual([]);
});

test('requests of an owner are noted every ten seconds, but for polls and refreshes', async () => {
  const { call, subscription, store, clock } = eventsServer();
  await call('events/poll', { name: 'task.finished' });
  await call('events/list');
  expect(await store.lastRequest(OWNER)).toBeUndefined();
  await call('tools/list');
  expect(await store.lastRequest(OWNER)).toBe(START);
  clock.now += 9_999;
  await call('tools/list');
  expect(await store.lastRequest(OWNER)).toBe(START);
  clock.now += 1;
  await call('events/subscribe', subscription());
  expect(await store.lastRequest(OWNER)).toBe(clock.now);
  clock.now += 60_000;
  await call('events/subscribe', subscription());
  expect(await store.lastRequest(OWNER)).toBe(clock.now - 60_000);
});
