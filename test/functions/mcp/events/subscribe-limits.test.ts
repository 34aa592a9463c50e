import { expect, test, vi } from 'vitest';
import { limits } from '../../../../functions/tasks/limits.ts';
import { OWNER, START } from '../../events/support.ts';
import { eventsServer } from './support.ts';

const HOUR = 3_600_000;
const MOST = limits.mcpEvents.subscriptions;

test('an owner has 100 live subscriptions at most; one that lapsed makes room (H-06)', async () => {
  const { call, subscription, items, clock } = eventsServer();
  const stored = {
    name: 'task.finished',
    arguments: {},
    scopes: [],
    url: 'u',
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
    ...{ name: 'task.finished', arguments: {}, scopes: [], url: 'u', secrets: [] },
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

test('a request whose receiver has to answer counts as one that waits (C-37)', async () => {
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
  store.openStream = async () => undefined;
  const { error } = await call('events/subscribe', subscription());
  expect([error.data, asked.length]).toEqual([{ reason: 'TooManyStreams', limit: 200 }, 1]);
});
