import { expect, test, vi } from 'vitest';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { NewSubscription } from '../../../../functions/tasks/table/events/subscription.ts';
import { finished, OWNER, START } from '../../events/support.ts';
import { eventsServer, URL_ } from './support.ts';

const HOUR = 3_600_000;
const MOST = limits.mcpEvents.subscriptions;

test('an owner has 50 live subscriptions at most; one that lapsed makes room (H-06)', async () => {
  const { call, subscription, items, clock } = eventsServer();
  const stored = {
    name: 'task.finished',
    arguments: {},
    scopes: [],
    url: 'u',
    endpoint: '',
    secrets: [],
    expiresAt: 1,
    truncated: false,
  };
  const refreshBefore = clock.now + HOUR;
  for (let n = 0; n < MOST; n++) {
    const one = { ...stored, id: `sub_${n}`, createdAt: START, refreshBefore, deliveredTo: '', lastMatched: '' };
    await items.createSubscription(OWNER, one, START);
  }
  const subscribe = () => call('events/subscribe', subscription());
  expect((await subscribe()).error).toMatchObject({ code: -32013, data: { limit: 'subscriptions', max: MOST } });
  clock.now = refreshBefore;
  expect((await subscribe()).result).toMatchObject({ truncated: false });
  // Otherwise those that lapse would be read for days.
  expect(await items.matched(OWNER)).toHaveLength(MOST - 5 + 1);
});

test('a subscription begins, also if those that have lapsed cannot be deleted (H-06)', async () => {
  const { call, subscription, items, clock } = eventsServer();
  const { id, refreshBefore } = (await call('events/subscribe', subscription())).result;
  clock.now = Date.parse(refreshBefore);
  const { endSubscription } = items;
  items.endSubscription = async () => {
    throw Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
  };
  const log = vi.spyOn(console, 'error').mockReturnValue();
  const other = (n: number) => call('events/subscribe', subscription({}, { url: `${URL_}${n}` }));
  expect((await other(1)).result).toMatchObject({ truncated: false });
  expect(log.mock.calls.join()).toMatch(/lapsed subscription.*ThrottlingException/);
  log.mockRestore();
  items.endSubscription = endSubscription;
  await other(2);
  expect((await items.matched(OWNER)).filter((one) => one.id === id)).toEqual([]);
});

test('one that is refreshed at the same moment is not deleted as one that lapsed (H-06)', async () => {
  const { call, subscription, items, clock } = eventsServer();
  const { id } = (await call('events/subscribe', subscription())).result;
  const { matched } = items;
  items.matched = async (owner) => (await matched(owner)).map((one) => ({ ...one, refreshBefore: clock.now }));
  await call('events/subscribe', subscription({}, { url: 'https://receiver.example/other' }));
  expect(await items.subscription(OWNER, id)).toMatchObject({ id });
});

test('a subscription that waits for its receiver meanwhile counts against the limit (H-06)', async () => {
  const { call, subscription, items, receiver, asked } = eventsServer();
  const { promise, resolve } = Promise.withResolvers<void>();
  receiver.waits = promise;
  const waiting = call('events/subscribe', subscription());
  await vi.waitFor(() => expect(asked).toHaveLength(1));
  const one = {
    ...{ name: 'task.finished', arguments: {}, scopes: [], url: 'u', endpoint: '', secrets: [] },
    expiresAt: 1,
    truncated: false,
  };
  for (let n = 0; n < MOST; n++) {
    const more = { id: `sub_${n}`, createdAt: START, refreshBefore: START + HOUR, deliveredTo: '', lastMatched: '' };
    await items.createSubscription(OWNER, { ...one, ...more }, START);
  }
  resolve();
  expect((await waiting).error).toMatchObject({ code: -32013, data: { limit: 'subscriptions', max: MOST } });
  expect(await items.matched(OWNER)).toHaveLength(MOST);
});

test('requests of one URL at the same moment do not pass the limit (H-06)', async () => {
  const { call, subscription, items, asked, task } = eventsServer();
  await call('events/subscribe', subscription());
  const [first] = await items.matched(OWNER);
  const one = { ...first, url: 'u', secrets: [], deliveredTo: '', lastMatched: '', truncated: false, expiresAt: 1 };
  for (let n = 2; n < MOST; n++) {
    await items.createSubscription(OWNER, { ...(one as NewSubscription), id: `sub_${n}` }, START);
  }
  // All of them read the subscriptions before one is there.
  const { matched } = items;
  const { promise, resolve } = Promise.withResolvers<void>();
  let reads = 0;
  items.matched = async (owner) => {
    const found = await matched(owner);
    if (++reads === 8) resolve();
    await promise;
    return found;
  };
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      call('events/subscribe', subscription({ arguments: { taskId: task(`t${n}`).taskId } })),
    ),
  );
  expect(asked).toHaveLength(1);
  expect(answers.filter(({ result }) => result !== undefined).length).toBeLessThanOrEqual(1);
  expect(answers.map(({ error }) => error?.data ?? {})).toContainEqual({ limit: 'subscriptions', max: MOST });
  const started = (await matched(OWNER)).filter((one) => one.started !== undefined);
  expect(started.length).toBeLessThanOrEqual(MOST);
  expect(await matched(OWNER)).toHaveLength(MOST - 1 + answers.filter(({ result }) => result).length);
});

test('a request that begins a subscription counts as one that waits, a refresh does not (C-37)', async () => {
  const { call, subscription, server, asked, receiver } = eventsServer();
  const { store } = server;
  const counted: string[] = [];
  store.openStream = async (owner) => {
    counted.push('open');
    return { owner, taskId: 's' } as never;
  };
  store.closeStream = async () => void counted.push('close');
  receiver.refuses = 'timeout';
  await call('events/subscribe', subscription());
  expect(counted).toEqual(['open', 'close']);
  receiver.refuses = undefined;
  await call('events/subscribe', subscription());
  // Its receiver is known: it still waits for its turn in the log.
  await call('events/subscribe', subscription({ arguments: { tool: 'optional' } }));
  expect(counted).toHaveLength(6);
  await call('events/subscribe', subscription());
  expect(counted).toHaveLength(6);
  store.openStream = async () => undefined;
  const { error } = await call('events/subscribe', subscription({ arguments: { status: 'failed' } }));
  expect([error.data, asked.length]).toEqual([{ reason: 'TooManyStreams', limit: 200 }, 2]);
});

test.each([
  ['an empty fragment', `${URL_}#`, 'delivery.url may have no fragment'],
  ['a fragment', `${URL_}#a`, 'delivery.url may have no fragment'],
  ['2,001 bytes', URL_.padEnd(2_001, 'a'), 'delivery.url may have 2000 bytes at most'],
  ['up to three bytes a character', URL_.padEnd(1_000, '€'), 'delivery.url may have 2000 bytes at most'],
])('a URL of %s is refused by name (H-07)', async (_what, url, message) => {
  const { call, subscription, asked } = eventsServer();
  const { error } = await call('events/subscribe', subscription({}, { url }));
  expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(message) });
  expect(asked).toEqual([]);
});

test('a URL of 2,000 bytes is taken (H-07)', async () => {
  const { call, subscription, asked } = eventsServer();
  await call('events/subscribe', subscription({}, { url: URL_.padEnd(2_000, 'a') }));
  expect(asked).toHaveLength(1);
});

test('a refresh that crosses the end of its subscription is refused: the next begins it (H-12)', async () => {
  const { call, subscription, items, clock, writer, got } = eventsServer();
  const wanted = subscription({ ttlMs: HOUR });
  const { id, refreshBefore, cursor } = (await call('events/subscribe', wanted)).result;
  await writer().append(OWNER, { at: clock.now, event: finished(1) });
  clock.now = Date.parse(refreshBefore) - 20;
  const { keepUrl } = items;
  items.keepUrl = async (...given) => {
    clock.now += 20;
    // Its message is dropped.
    await got(id);
    await keepUrl(...given);
  };
  const refused = await call('events/subscribe', wanted);
  expect(refused.error).toMatchObject({ code: -32602, message: expect.stringContaining('subscribe again') });
  expect((await call('events/subscribe', { ...wanted, cursor })).result).toMatchObject({ id, truncated: false });
  expect(await got(id)).toEqual([finished(1).eventId]);
});

test('of a token with many scopes, those are kept that tools need', async () => {
  const { call, subscription, items, caller } = eventsServer();
  const others = Array.from({ length: 40 }, (_, n) => `billing:${n}`);
  const kept = async (scopes: readonly string[]) => {
    const { result } = await call('events/subscribe', subscription(), {}, { ...caller, scopes });
    return (await items.subscription(OWNER, result.id))?.scopes;
  };
  expect(await kept(['ops', ...others])).toEqual(['ops']);
  expect(await kept(['ops', 'billing:1'])).toEqual(['ops', 'billing:1']);
});
