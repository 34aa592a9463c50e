import { expect, test } from 'vitest';
import { EVENT_NAMES } from '../../../../functions/events/ports.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import { positionText } from '../../../../functions/tasks/table/events/log.ts';
import { DAY, finished, OWNER, START } from '../../events/support.ts';
import { EVENTS_TOOLS, eventsServer, SECRET, SEP, URL_ } from './support.ts';

const HOUR = 3_600_000;
const { ttl } = limits.mcpEvents;
const secretOf = (bytes: number) => `whsec_${Buffer.alloc(bytes, 1).toString('base64')}`;
const grantOf = ({ result }: { result: { refreshBefore: string } }) => Date.parse(result.refreshBefore) - START;

test('the answer has id, refreshBefore, cursor, truncated and resultType (H-10, H-11)', async () => {
  const { call, subscription, asked } = eventsServer();
  const { result } = await call('events/subscribe', subscription());
  expect(result).toMatchObject({
    id: expect.stringMatching(/^sub_[0-9a-f]{32}$/),
    refreshBefore: new Date(START + DAY).toISOString(),
    cursor: expect.any(String),
    truncated: false,
    resultType: 'complete',
  });
  expect(result).not.toHaveProperty('deliveryStatus');
  expect(asked).toEqual([{ url: URL_, secret: SECRET, subscriptionId: result.id }]);
});

test('the checks come in one order: one request fails each in its turn (H-06)', async () => {
  const { call, subscription, receiver, server } = eventsServer();
  receiver.refuses = 'challenge_failed';
  let request: ReturnType<typeof subscription> = {
    ...subscription(),
    name: 'no',
    arguments: { tool: 'no' } as never,
    delivery: { mode: 'push', url: 'http://a', secret: 'no' } as never,
    ...({ ttlMs: 'long' } as object),
  };
  const said: unknown[] = [];
  const fix = async (more: object) => {
    const { error, result } = await call('events/subscribe', request);
    said.push(error === undefined ? result : [error.code, error.data ?? error.message.split(' ')[0]]);
    request = { ...request, ...more };
  };
  const url = 'https://receiver.example/';
  await fix({ name: 'task.finished' });
  await fix({ arguments: { tool: 'required' } });
  await fix({ delivery: { ...request.delivery, mode: 'webhook' } });
  await fix({ delivery: { ...request.delivery, url } });
  await fix({ delivery: { ...request.delivery, secret: SECRET } });
  await fix({ ttlMs: 1 });
  const { caller } = eventsServer();
  const { error } = await call('events/subscribe', request, {}, { ...caller, scopes: ['tasks'] });
  said.push([error?.code, error?.data]);
  await fix({});
  expect(said).toEqual([
    [-32011, { kind: 'event' }],
    [-32602, 'arguments'],
    [-32014, { feature: 'deliveryMode', value: 'push' }],
    [-32602, 'delivery.url'],
    [-32602, 'delivery.secret'],
    [-32602, 'ttlMs'],
    [-32012, { scopes: ['ops'] }],
    [-32015, { reason: 'challenge_failed' }],
  ]);
  expect(server.manifest.tools).toBe(EVENTS_TOOLS);
});

test('a receiver that fails its challenge is not stored (H-06)', async () => {
  const { call, subscription, receiver, items } = eventsServer();
  receiver.refuses = 'timeout';
  expect((await call('events/subscribe', subscription())).error).toMatchObject({ message: 'CallbackEndpointError' });
  expect(await items.matched(OWNER)).toEqual([]);
});

test.each([
  'http://receiver.example/',
  'https://user@receiver.example/',
  'https://user:pw@receiver.example/',
  '/hook',
  'receiver.example',
  7,
  undefined,
])('the URL %j is refused (H-07)', async (url) => {
  const { call, subscription, asked } = eventsServer();
  expect((await call('events/subscribe', subscription({}, { url }))).error).toMatchObject({ code: -32602 });
  expect(asked).toEqual([]);
});

test.each([secretOf(23), secretOf(65), 'whsec_', SECRET.slice(6), `${SECRET}!`, 7, undefined])(
  'the secret %j is refused (H-08)',
  async (secret) => {
    const { call, subscription } = eventsServer();
    expect((await call('events/subscribe', subscription({}, { secret }))).error).toMatchObject({ code: -32602 });
  },
);

test.each([24, 32, 64])('a secret of %i bytes is taken, with its padding or without (H-08)', async (bytes) => {
  const { call, subscription, asked } = eventsServer();
  const secret = secretOf(bytes);
  await call('events/subscribe', subscription({}, { secret }));
  await call('events/subscribe', subscription({}, { secret: secret.replace(/=+$/, ''), url: `${URL_}b` }));
  expect(asked.map((one) => one.secret)).toEqual([secret, secret]);
});

test.each([
  [undefined, DAY],
  [null, ttl.max],
  [0, HOUR],
  [-5, HOUR],
  [2 * HOUR, 2 * HOUR],
  [1e15, 14 * DAY],
])('ttlMs %j is a wish: granted are %i ms (H-09)', async (ttlMs, granted) => {
  const { call, subscription } = eventsServer();
  expect(grantOf(await call('events/subscribe', subscription({ ttlMs })))).toBe(granted);
});

test('a subscription is one of a caller, a URL, a name and arguments, in any order (H-11)', async () => {
  const { call, subscription, items, caller } = eventsServer();
  const id = async (more: object = {}, url = URL_, by: object = caller) =>
    (await call('events/subscribe', subscription(more, { url }), {}, by)).result.id;
  const first = await id({ arguments: { tool: 'optional', status: 'failed' } });
  expect(await id({ arguments: { status: 'failed', tool: 'optional' } })).toBe(first);
  const others = [
    await id({ arguments: { tool: 'optional' } }),
    await id({ name: 'task.asks', arguments: { tool: 'optional' } }),
    await id({ arguments: { tool: 'optional' } }, `${URL_}c`),
    await id({ arguments: { tool: 'optional' } }, URL_, { key: 'owner#b', scopes: [] }),
  ];
  expect(new Set([first, ...others]).size).toBe(5);
  expect(await items.matched(OWNER)).toHaveLength(4);
});

test('the same again is a refresh: no challenge, a new grant, the status (H-12)', async () => {
  const { call, subscription, asked, clock, store } = eventsServer();
  const { result: first } = await call('events/subscribe', subscription());
  await store.failed({ ownerKey: OWNER, id: first.id, createdAt: START }, 'http_5xx', START + 5);
  clock.now += HOUR;
  const { result } = await call('events/subscribe', subscription({ cursor: '0000000000000001' }));
  expect(result).toMatchObject({
    id: first.id,
    cursor: first.cursor,
    truncated: false,
    refreshBefore: new Date(START + HOUR + DAY).toISOString(),
    deliveryStatus: {
      active: true,
      lastDeliveryAt: null,
      lastError: 'http_5xx',
      failedSince: new Date(START + 5).toISOString(),
    },
  });
  expect(asked).toHaveLength(1);
});

test('the URL is kept as long as the subscription, however often that is refreshed (H-12)', async () => {
  const { call, subscription, clock, table } = eventsServer();
  for (let n = 0; n < 3; n++) {
    const { result } = await call('events/subscribe', subscription({ ttlMs: null }));
    const url = [...table.items()].find((item) => item.url?.S === URL_);
    expect(Number(url?.expiresAt?.N) * 1_000).toBeGreaterThan(Date.parse(result.refreshBefore));
    clock.now += 10 * DAY;
  }
});

test('a new secret signs first, the old one too for an hour, and only one old one (H-12)', async () => {
  const { call, subscription, clock, store } = eventsServer();
  const [a, b, c] = [secretOf(24), secretOf(25), secretOf(26)];
  const { result } = await call('events/subscribe', subscription({}, { secret: a }));
  const secrets = async () => (await store.subscription(OWNER, result.id))?.secrets;
  await call('events/subscribe', subscription({}, { secret: b }));
  expect(await secrets()).toEqual([b, a]);
  await call('events/subscribe', subscription({}, { secret: b }));
  expect(await secrets()).toEqual([b, a]);
  await call('events/subscribe', subscription({}, { secret: c }));
  expect(await secrets()).toEqual([c, b]);
  clock.now += HOUR;
  expect(await secrets()).toEqual([c]);
});

test('a refresh with a token of fewer scopes narrows what is sent (H-12, H-15)', async () => {
  const { call, subscription, caller, writer, got } = eventsServer();
  const { result } = await call('events/subscribe', subscription());
  const event = (n: number) => writer().append(OWNER, { at: START, event: finished(n, { scopes: ['ops'] }) });
  await event(1);
  expect(await got(result.id)).toEqual([finished(1).eventId]);
  await call('events/subscribe', subscription(), {}, { ...caller, scopes: ['tasks'] });
  await event(2);
  expect(await got(result.id)).toEqual([finished(1).eventId]);
});

test('a subscription to a task that has ended gets its event at once, and once (H-14, H-20)', async () => {
  const { call, subscription, task, queue, writer, store, got } = eventsServer();
  const { taskId } = task('t', { status: 'completed', result: '"planted"' });
  const { result } = await call('events/subscribe', subscription({ arguments: { taskId } }));
  const [eventId = ''] = await got(result.id);
  expect(await got(result.id)).toHaveLength(1);
  const { position } = JSON.parse(queue.sent[0]?.body ?? '');
  const body = (await store.occurrence(OWNER, position))?.body;
  expect(body).toMatchObject({ eventId, name: 'task.finished', data: { taskId, status: 'completed' } });
  expect(JSON.stringify(body)).not.toContain('planted');
  // The stream brings the same end: it has the same id.
  await writer().append(OWNER, { at: START, event: finished(1, { eventId, taskId }) });
  expect(await got(result.id)).toEqual([eventId]);
});

test('a subscription to a task that asks gets that event at once (H-14)', async () => {
  const { call, subscription, task, got } = eventsServer();
  const { taskId } = task('t', {
    status: 'input_required',
    asked: JSON.stringify({ inputRequests: { q: { method: 'roots/list' } } }),
    accepts: ['roots/list'],
    arguments: '{}',
  });
  const asks = { name: EVENT_NAMES[1], arguments: { taskId } };
  const { result } = await call('events/subscribe', subscription(asks));
  const { result: ends } = await call('events/subscribe', subscription({ arguments: { taskId } }));
  expect(await got(result.id)).toHaveLength(1);
  expect(await got(ends.id)).toEqual([]);
});

test('a task that is unknown, foreign, or of a tool that is not allowed is refused (H-06)', async () => {
  const { call, subscription, task, caller } = eventsServer();
  const { taskId } = task('t', { tool: 'required' });
  const ask = (id: string, by: object = caller) =>
    call('events/subscribe', subscription({ arguments: { taskId: id } }), {}, by);
  expect((await ask('0'.repeat(36))).error).toMatchObject({ code: -32602, message: 'Task not found' });
  expect((await ask(taskId, { ...caller, key: 'owner#b' })).error).toMatchObject({ message: 'Task not found' });
  expect((await ask(taskId, { ...caller, scopes: ['tasks'] })).error).toMatchObject({ code: -32012 });
  expect((await ask(taskId)).result).toMatchObject({ truncated: false });
});

test('a cursor replays what came after it; truncated if some is gone, and only then (H-13)', async () => {
  const { call, subscription, writer, got, table } = eventsServer();
  const { last } = await writer().begin(OWNER);
  for (const n of [1, 2, 3]) await writer().append(OWNER, { at: START, event: finished(n) });
  let urls = 0;
  const from = async (cursor: string) => {
    const { result } = await call('events/subscribe', subscription({ cursor }, { url: `${URL_}${urls++}` }));
    return [(await got(result.id)).map((id) => Number(id.slice(4))), result.truncated];
  };
  const at = (index: number) => positionText(last + 1 + index);
  expect(await from(at(0))).toEqual([[2, 3], false]);
  expect(await from(positionText(START))).toEqual([[1, 2, 3], false]);
  // The first one expires.
  const entry = [...table.items()].find(({ taskId }) => taskId?.S === `#event#${at(0)}`);
  table.delete({ owner: entry?.owner ?? {}, taskId: entry?.taskId ?? {} });
  expect(await from(at(0))).toEqual([[2, 3], false]);
  expect(await from(positionText(START))).toEqual([[2, 3], true]);
  expect(await from('not a cursor of this server')).toEqual([[2, 3], true]);
});

test('maxAgeMs leaves old events out of a replay, and the answer says so (H-10)', async () => {
  const { call, subscription, writer, got, clock } = eventsServer();
  await writer().begin(OWNER);
  await writer().append(OWNER, { at: START, event: finished(1, { at: START }) });
  await writer().append(OWNER, { at: START, event: finished(2, { at: START + 5_000 }) });
  clock.now = START + 10_000;
  const { result } = await call('events/subscribe', subscription({ cursor: positionText(START), maxAgeMs: 6_000 }));
  expect(await got(result.id)).toEqual([finished(2).eventId]);
  expect(result.truncated).toBe(true);
});

test.each(['events/subscribe', 'events/poll'])('%s takes maxAgeMs of 0 to 2^53 - 1 (H-10)', async (method) => {
  const { call, subscription, items, asked } = eventsServer();
  for (const maxAgeMs of [-1, 1e22, 1e300, '6000', [6_000]]) {
    const { error } = await call(method, subscription({ maxAgeMs, cursor: positionText(START) }));
    expect(error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('maxAgeMs must be from 0 to 9007199'),
    });
  }
  expect([await items.matched(OWNER), asked]).toEqual([[], []]);
  for (const maxAgeMs of [0, 2 ** 53 - 1]) {
    expect(await call(method, subscription({ maxAgeMs, cursor: positionText(START) }))).toHaveProperty('result');
  }
});

test('a client that declares the extension gets codes of SEP-3415, others the sketch (H-02)', async () => {
  const { call, subscription, receiver } = eventsServer();
  receiver.refuses = 'tls_error';
  const codes = async (options: object) => {
    const all = [
      await call('events/subscribe', subscription({ name: 'no' }), options),
      await call('events/subscribe', subscription({ arguments: { tool: 'required' } }), options, { key: OWNER }),
      await call('events/subscribe', subscription({}, { mode: 'push' }), options),
      await call('events/subscribe', subscription(), options),
    ];
    return all.map(({ error, status }) => [error?.code, error?.message, status]);
  };
  const names = ['NotFound', 'Forbidden', 'Unsupported', 'CallbackEndpointError'];
  const sketch = [-32011, -32012, -32014, -32015];
  const sep = [-32023, -32024, -32026, -32027];
  expect(await codes({})).toEqual(sketch.map((code, i) => [code, names[i], 200]));
  expect(await codes(SEP)).toEqual(sep.map((code, i) => [code, names[i], 200]));
});
