import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Answer } from '../../../functions/events/post/post.ts';
import { createDelivery, DAY, MINUTE, message, occurrence, SECOND, subscription, T0 } from './support.ts';

beforeEach(() => {
  for (const level of ['error', 'warn', 'log'] as const) vi.spyOn(console, level).mockReturnValue(undefined);
});
afterEach(() => vi.restoreAllMocks());

const unheld = { hold: undefined };

test('an event is posted as it is in the log, under its id, signed by all secrets', async () => {
  const { posts, written, attempts, receive, state } = createDelivery(unheld);
  state.now = T0 + 300;
  expect(await receive()).toEqual([true]);
  const { url, secrets } = subscription;
  const body = JSON.stringify(occurrence);
  expect(posts).toEqual([{ url, secrets, webhookId: 'evt_1', subscriptionId: 'sub_1', body }]);
  expect(written).toEqual([['delivered', 'p1']]);
  expect(attempts).toMatchObject([{ result: 'delivered', status: 204, age: 300, failing: 0 }]);
});

test.each<[Answer, string]>([
  [{ status: 503, body: '' }, 'http_5xx'],
  [{ status: 500, body: '' }, 'http_5xx'],
  [{ status: 425, body: '' }, 'http_4xx'],
  [{ status: 404, body: '' }, 'http_4xx'],
  [{ status: 307, body: '' }, 'http_4xx'],
  [{ error: 'timeout' }, 'timeout'],
  [{ error: 'tls_error' }, 'tls_error'],
  [{ error: 'connection_refused' }, 'connection_refused'],
])('after %j the message comes back a second later, and the reason is noted', async (answer, error) => {
  const { state, hidden, written, attempts, receive } = createDelivery(unheld);
  state.answer = answer;
  expect(await receive()).toEqual([false]);
  expect(hidden).toEqual([1]);
  expect(written).toEqual([[error, T0]]);
  expect(attempts).toMatchObject([{ result: 'failed', error }]);
});

test('attempts go on for 14 days at growing distances: seconds first, then 15 minutes', async () => {
  const { state, hidden, written, receive } = createDelivery(unheld);
  state.answer = { error: 'timeout' };
  state.subscription = { ...subscription, failedSince: T0 };
  while (!(await receive())[0]) state.now += (hidden.at(-1) ?? 0) * SECOND;
  expect(hidden.slice(0, 9)).toEqual([1, 2, 6, 18, 54, 162, 486, 900, 900]);
  expect(new Set(hidden.slice(8))).toEqual(new Set([900]));
  expect(state.now).toBeGreaterThan(T0 + 13.9 * DAY);
  expect(state.now).toBeLessThan(T0 + 14 * DAY - 15 * MINUTE);
  expect(written.at(-1)).toEqual(['given up', 'p1']);
});

test('a refused attempt says how long its subscription has failed; one that is taken says 0', async () => {
  const { state, attempts, receive } = createDelivery(unheld);
  state.now = T0 + 10 * MINUTE;
  state.answer = { error: 'timeout' };
  await receive();
  state.subscription = { ...subscription, failedSince: T0 + MINUTE };
  await receive();
  state.answer = { status: 204, body: '' };
  await receive();
  expect(attempts.map(({ failing }) => failing)).toEqual([0, 9 * MINUTE, 0]);
  expect(attempts[2]).not.toHaveProperty('error');
});

test.each([410, 413])('after %i the event is given up, and the next one is sent', async (status) => {
  const { state, posts, written, attempts, receive } = createDelivery(unheld);
  state.answer = { status, body: '' };
  expect(await receive(message(1), message(2))).toEqual([true, true]);
  expect(posts.map(({ webhookId }) => webhookId)).toEqual(['evt_1', 'evt_2']);
  expect(written).toEqual([
    ['given up', 'p1'],
    ['given up', 'p2'],
  ]);
  expect(attempts).toMatchObject([{ result: 'given_up', status }, { result: 'given_up' }]);
});

test('all messages behind one that comes back come back with it, unsent', async () => {
  const { state, posts, receive } = createDelivery(unheld);
  state.answer = { status: 503, body: '' };
  expect(await receive(message(1), message(2), message(3))).toEqual([false, false, false]);
  expect(posts.map(({ webhookId }) => webhookId)).toEqual(['evt_1']);
});

test('a message about new events goes to the fan-out, and comes back if that fails', async () => {
  const { fannedOut, posts, receive } = createDelivery(unheld);
  const news = { ownerKey: 'owner#ann' };
  expect(await receive(news, message(1))).toEqual([true, true]);
  expect([fannedOut, posts.length]).toEqual([[news], 1]);
  const failing = createDelivery({ ...unheld, fanOut: () => Promise.reject(new Error('throttled')) });
  expect(await failing.receive(news, message(1))).toEqual([false, false]);
  expect(failing.posts).toEqual([]);
});

test('a message that cannot be handled comes back sooner than its visibility timeout', async () => {
  const { receive, hidden, state, failures } = createDelivery({
    ...unheld,
    fanOut: () => Promise.reject(new Error('throttled')),
  });
  for (const receives of [1, 2, 6, 7, 8, 1_000]) {
    state.receives = receives;
    state.now += MINUTE;
    expect(await receive({ ownerKey: 'owner#ann' })).toEqual([false]);
  }
  expect(hidden).toEqual([2, 4, 64, 128, 128, 128]);
  // SQS does not say how old it is.
  expect(failures).toEqual([1, 2, 3, 4, 5, 6].map((minutes) => ['newEvents', minutes * MINUTE]));
});

test('a delivery whose subscription cannot be read is measured like one that fails', async () => {
  const { context, state, failures, attempts, receive } = createDelivery(unheld);
  context.store.subscription = () => Promise.reject(new Error('throttled'));
  state.now += 2 * MINUTE;
  expect(await receive()).toEqual([false]);
  expect([failures, attempts]).toEqual([[['deliveries', 2 * MINUTE]], []]);
});

test('nothing is sent for a subscription that has ended, nor at or after its refreshBefore', async () => {
  const { state, posts, receive } = createDelivery(unheld);
  state.subscription = undefined;
  expect(await receive()).toEqual([true]);
  state.subscription = { ...subscription, refreshBefore: T0 };
  expect(await receive()).toEqual([true]);
  expect(posts).toEqual([]);
  state.subscription = { ...subscription, refreshBefore: T0 + 1 };
  expect(await receive()).toEqual([true]);
  expect(posts).toHaveLength(1);
});

test('nothing is sent for a repeat, nor for an earlier subscription with the same id', async () => {
  const { state, posts, receive, written } = createDelivery(unheld);
  state.subscription = { ...subscription, createdAt: T0 + 1 };
  expect(await receive()).toEqual([true]);
  expect(written).toEqual([]);
  state.subscription = { ...subscription, deliveredTo: 'p1' };
  expect(await receive()).toEqual([true]);
  // Noted again: that sends the message for the next event, if the first attempt died before it.
  expect(written).toEqual([['given up', 'p1']]);
  expect(posts).toEqual([]);
});

test('an event of a tool whose scopes the subscription no longer covers is not sent', async () => {
  const { state, posts, receive, written } = createDelivery(unheld);
  state.occurrence = { body: occurrence, scopes: ['reports:read'] };
  expect(await receive()).toEqual([true]);
  expect(posts).toEqual([]);
  expect(written).toEqual([['given up', 'p1']]);
  state.subscription = { ...subscription, scopes: ['reports'] };
  expect(await receive()).toEqual([true]);
  expect(posts).toHaveLength(1);
});

test('an event that has left the log is done, and the log of the function says so', async () => {
  const { state, posts, receive, written } = createDelivery(unheld);
  state.occurrence = undefined;
  expect(await receive()).toEqual([true]);
  expect(posts).toEqual([]);
  expect(written).toEqual([['given up', 'p1']]);
  expect(vi.mocked(console.warn).mock.calls.join()).toContain('event_expired');
});

test.each(['subscription', 'occurrence'] as const)('if the %s cannot be read, the message comes back', async (read) => {
  const { context, posts, hidden } = createDelivery(unheld);
  const store = { ...context.store, [read]: async () => Promise.reject(new Error('planted-secret')) };
  expect(await createDelivery({ ...context, store }).receive()).toEqual([false]);
  expect([posts, hidden]).toEqual([[], [2]]);
  expect(vi.mocked(console.error).mock.calls.join()).not.toContain('planted-secret');
});

test('an event whose delivery cannot be noted comes again: its note sends the next one', async () => {
  const { context, state, posts } = createDelivery(unheld);
  const fails = async () => Promise.reject(new Error('throttled'));
  const store = { ...context.store, delivered: fails, failed: fails };
  const delivery = createDelivery({ ...context, store });
  expect(await delivery.receive()).toEqual([false]);
  expect(await delivery.receive()).toEqual([false]);
  expect(posts.map(({ webhookId }) => webhookId)).toEqual(['evt_1', 'evt_1']);
  state.answer = { status: 410, body: '' };
  expect(await delivery.receive()).toEqual([false]);
});

test('a failed attempt that cannot be noted is tried again after its wait', async () => {
  const { context, state, hidden } = createDelivery(unheld);
  const fails = async () => Promise.reject(new Error('throttled'));
  const delivery = createDelivery({ ...context, store: { ...context.store, failed: fails } });
  state.answer = { status: 503, body: '' };
  expect(await delivery.receive()).toEqual([false]);
  expect(hidden).toEqual([1]);
});

test('if SQS does not hide the message, it comes back all the same', async () => {
  const { receive, state } = createDelivery({ ...unheld, hide: async () => Promise.reject(new Error('throttled')) });
  state.answer = { status: 503, body: '' };
  expect(await receive()).toEqual([false]);
});

test.each(['', 'null', '{}', '[1]', '{"ownerKey":"o","subscriptionId":"s","eventId":"e","createdAt":1}'])(
  'a message that is not one (%j) is dropped: it would block its subscription',
  async (body) => {
    const { posts, receive } = createDelivery(unheld);
    expect(await receive(body)).toEqual([true]);
    expect(posts).toEqual([]);
  },
);

test('an event of a busy owner is held until 90 s without a request, at most 5 minutes', async () => {
  const { state, posts, hidden, receive } = createDelivery();
  state.lastRequest = T0 - 20 * SECOND;
  expect(await receive()).toEqual([false]);
  expect(hidden).toEqual([70]);
  state.now = T0 + 70 * SECOND;
  state.lastRequest = T0 + 60 * SECOND;
  expect(await receive()).toEqual([false]);
  state.now = T0 + 4 * MINUTE;
  state.lastRequest = T0 + 4 * MINUTE;
  expect(await receive()).toEqual([false]);
  expect(hidden).toEqual([70, 80, 60]);
  expect(posts).toEqual([]);
  state.now = T0 + 5 * MINUTE;
  state.lastRequest = T0 + 5 * MINUTE;
  expect(await receive()).toEqual([true]);
  expect(posts).toHaveLength(1);
});

test('an event of a quiet owner is not held, nor one of a subscription without a hold', async () => {
  const { state, hidden, receive } = createDelivery();
  expect(await receive()).toEqual([true]);
  state.lastRequest = T0 - 90 * SECOND;
  expect(await receive()).toEqual([true]);
  state.lastRequest = T0;
  state.subscription = { ...subscription, hold: false };
  expect(await receive()).toEqual([true]);
  expect(hidden).toEqual([]);
});

test('no request for an event that was delivered before, or that the token may no longer see', async () => {
  const { state, posts, receive } = createDelivery(unheld);
  state.subscription = { ...subscription, deliveredTo: 'p1', scopes: ['tasks'] };
  expect(await receive()).toEqual([true]);
  state.occurrence = { body: occurrence, scopes: ['ops'] };
  expect(await receive(message(2))).toEqual([true]);
  expect(posts).toEqual([]);
  state.occurrence = { body: occurrence, scopes: ['tasks:read'] };
  expect(await receive(message(2))).toEqual([true]);
  expect(posts).toHaveLength(1);
});

test.each([
  [204, 999, undefined],
  [204, 1_000, 3_000],
  [204, 9_000, 27_000],
  [410, 9_000, 27_000],
])('a receiver that answered %i within %i ms gets the next event %s ms later', async (status, took, rest) => {
  const rests: (number | undefined)[] = [];
  const made = createDelivery({
    ...unheld,
    post: async () => {
      made.state.now += took;
      return { status, body: '' };
    },
  });
  made.context.store.delivered = async (_to, { slowUntil }) => void rests.push(slowUntil);
  expect(await made.receive()).toEqual([true]);
  const until = rest === undefined ? undefined : made.state.now + rest;
  expect(rests).toEqual([until]);
  if (until === undefined) return;
  made.state.subscription = { ...subscription, slowUntil: until };
  expect(await made.receive()).toEqual([false]);
  expect(made.hidden).toEqual([Math.ceil((rest ?? 0) / 1_000)]);
  made.state.now = until;
  expect(await made.receive()).toEqual([true]);
});

test.each([
  [500, 1],
  [9_000, 27],
])('a receiver that failed after %i ms gets the event again %i s later', async (took, again) => {
  const made = createDelivery({
    ...unheld,
    post: async () => {
      made.state.now += took;
      return { status: 500, body: '' };
    },
  });
  expect(await made.receive()).toEqual([false]);
  expect(made.hidden).toEqual([again]);
});
