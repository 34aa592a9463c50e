import { expect, test } from 'vitest';
import { limits } from '../../../../../functions/tasks/limits.ts';
import { DAY, OWNER, START } from '../../../events/support.ts';
import { SECRET, SEP, URL_ } from '../support.ts';
import { postingServer, tasksOf } from './posting-server.ts';

const HOUR = 3_600_000;
const secretOf = (bytes: number) => `whsec_${Buffer.alloc(bytes, 1).toString('base64')}`;
const codeOf = async (more: object, delivery: object) => (await postingServer().subscribed(more, delivery)).error?.code;
/** For how long a wish is granted, in ms. */
const grantOf = async (more: object) =>
  Date.parse((await postingServer().subscribed(more)).result.refreshBefore) - START;

test('subscribe-webhook-only', async () => {
  expect([await codeOf({}, { mode: 'push' }), await codeOf({}, { mode: 'poll' })]).toEqual([-32014, -32014]);
});

test('subscribe-secret-required', async () => expect(await codeOf({}, { secret: undefined })).toBe(-32602));

test('subscribe-secret-format', async () => {
  for (const bytes of [24, 64]) expect(await codeOf({}, { secret: secretOf(bytes) })).toBeUndefined();
});

test('subscribe-secret-rejected', async () => {
  for (const secret of [secretOf(23), secretOf(65), SECRET.slice(6), `${SECRET}!`]) {
    expect(await codeOf({}, { secret })).toBe(-32602);
  }
});

test('subscribe-url-https-required', async () => expect(await codeOf({}, { url: URL_ })).toBeUndefined());

test('subscribe-url-non-https-rejected', async () => {
  for (const url of ['http://receiver.example/', 'ftp://receiver.example/', 'receiver.example', '/hook']) {
    expect(await codeOf({}, { url })).toBe(-32602);
  }
});

test('subscribe-auth-required', async () => {
  const { server, call, subscription } = postingServer();
  Object.assign(server, { manifest: { ...server.manifest, auth: 'anonymous' } });
  for (const method of ['events/subscribe', 'events/unsubscribe']) {
    expect((await call(method, subscription())).error).toMatchObject({ code: -32012, message: 'Forbidden' });
  }
});

test('subscribe-key-composition', async () => {
  const { subscribed } = postingServer();
  const id = async (more: object) => (await subscribed(more)).result.id;
  const one = await id({ arguments: { tool: 'optional', status: 'failed' } });
  expect(await id({ arguments: { status: 'failed', tool: 'optional' } })).toBe(one);
});

test('subscribe-key-immutable', async () => {
  const { subscribed, items } = postingServer();
  const answers = [
    await subscribed(),
    await subscribed({ name: 'task.asks' }),
    await subscribed({ arguments: { tool: 'optional' } }),
    await subscribed({}, { url: `${URL_}b` }),
  ];
  expect(new Set(answers.map(({ result }) => result.id)).size).toBe(4);
  expect(await items.matched(OWNER)).toHaveLength(4);
});

test('subscribe-idempotent-upsert', async () => {
  const { subscribed, items, clock } = postingServer();
  const first = (await subscribed()).result;
  clock.now += HOUR;
  const { id, refreshBefore } = (await subscribed()).result;
  expect([id, Date.parse(refreshBefore) - Date.parse(first.refreshBefore)]).toEqual([first.id, HOUR]);
  expect(await items.matched(OWNER)).toHaveLength(1);
});

test('subscribe-id-derived', async () => {
  const ids = [(await postingServer().subscribed()).result.id, (await postingServer().subscribed()).result.id];
  expect(ids).toEqual([expect.stringMatching(/^sub_[0-9a-f]{32}$/), ids[0]]);
});

test('subscribe-id-not-an-input', async () => {
  const { call, subscribed, caller, store } = postingServer();
  const { id } = (await subscribed()).result;
  const other = { ...caller, key: 'owner#b' };
  for (const delivery of [{ url: id }, { url: URL_, id }]) {
    await call('events/unsubscribe', { id, name: 'task.finished', arguments: {}, delivery }, {}, other);
  }
  expect(await store.subscription(OWNER, id)).toMatchObject({ id });
});

test('subscribe-refresh-replaces-secret', async () => {
  const { subscribed, ends, deliverAll } = postingServer();
  await subscribed();
  await subscribed({}, { secret: secretOf(40) });
  await ends(1);
  expect((await deliverAll())[0]?.secrets[0]).toBe(secretOf(40));
});

test('subscribe-refresh-reactivates', async () => {
  const { subscribed, ends, deliverAll, receives } = postingServer();
  await subscribed();
  receives.answer = { status: 500, body: '' };
  await ends(1);
  await deliverAll();
  expect((await subscribed()).result.deliveryStatus).toMatchObject({ active: true, lastError: 'http_5xx' });
});

test('subscribe-response-cursor', async () => {
  const { subscribed, ends, polled } = postingServer();
  const { cursor } = (await subscribed()).result;
  await ends(1);
  expect((await polled({ cursor })).result.events).toHaveLength(1);
});

test('subscribe-response-truncated', async () => {
  const { subscribed } = postingServer();
  expect((await subscribed()).result.truncated).toBe(false);
  const { result } = await subscribed({ cursor: 'of another server' }, { url: `${URL_}b` });
  expect(result.truncated).toBe(true);
});

test('subscribe-cross-tenant-isolation', async () => {
  const { subscribed, ends, deliverAll, caller } = postingServer();
  const ids = [(await subscribed()).result.id, (await subscribed({}, {}, {}, { ...caller, key: 'owner#b' })).result.id];
  await ends(1);
  expect((await deliverAll()).map(({ subscriptionId }) => subscriptionId)).toEqual(ids.slice(0, 1));
  expect(ids[0]).not.toBe(ids[1]);
});

test('ttl-refresh-before-lte-suggestion', async () => expect(await grantOf({ ttlMs: 5 * HOUR })).toBe(5 * HOUR));

test('ttl-no-rejection-path', async () => {
  const { min, max } = limits.mcpEvents.ttl;
  expect([await grantOf({ ttlMs: 1 }), await grantOf({ ttlMs: -5 }), await grantOf({ ttlMs: 1e15 })]).toEqual([
    min,
    min,
    max,
  ]);
});

test('ttl-null-only-when-requested', async () => {
  for (const wish of [{}, { ttlMs: null }, { ttlMs: 1e15 }]) expect(await grantOf(wish)).toBeGreaterThan(0);
});

test('ttl-omitted-means-default', async () => expect(await grantOf({})).toBe(limits.mcpEvents.ttl.default));

test('ttl-long-grant-retained', async () => {
  const { subscribed, ends, deliverAll, clock } = postingServer();
  await subscribed({ ttlMs: 14 * DAY });
  clock.now += 14 * DAY - 1;
  await ends(1, { at: clock.now });
  expect(tasksOf(await deliverAll())).toEqual(['t1']);
});

test('unsubscribe-by-key', async () => {
  const { call, subscription, subscribed, ends, deliverAll } = postingServer();
  const wanted = { arguments: { tool: 'optional', status: 'failed' } };
  await subscribed(wanted);
  const { secret: _secret, ...delivery } = subscription().delivery;
  const same = { name: 'task.finished', arguments: { status: 'failed', tool: 'optional' }, delivery };
  expect((await call('events/unsubscribe', same, SEP)).error).toBeUndefined();
  await ends(1, { tool: 'optional', status: 'failed' });
  expect(await deliverAll()).toEqual([]);
});

test('unsubscribe-unknown-not-found', async () => {
  const { call, subscription } = postingServer();
  // ChatGPT ends what may be gone: only a client that declares the extension hears of it (H-16).
  expect((await call('events/unsubscribe', subscription())).error).toBeUndefined();
  const { error } = await call('events/unsubscribe', subscription(), SEP);
  expect(error).toMatchObject({ message: 'NotFound', data: { kind: 'subscription' } });
});
