import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { deliver } from '../../../../../functions/event-delivery/deliver.ts';
import { challenge } from '../../../../../functions/events/post/challenge.ts';
import { type Answer, postSigned, type SignedPost } from '../../../../../functions/events/post/post.ts';
import { createDelivery, DAY, message, T0 } from '../../../event-delivery/support.ts';
import { type Received, startReceiver } from '../../../events/post/receiver.ts';
import { SECRET, URL_ } from '../support.ts';
import { postingServer, tasksOf } from './posting-server.ts';

const OTHER = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const HERE = { loopback: true };

/** The event of a task that has ended, as it is posted. */
async function event(): Promise<SignedPost> {
  const { subscribed, ends, deliverAll } = postingServer();
  await subscribed();
  await ends(1);
  const [post] = await deliverAll();
  if (post === undefined) throw new Error('no event');
  return post;
}
/** The same, as a receiver gets it. */
async function received(more: Partial<SignedPost> = {}, answers?: Parameters<typeof startReceiver>[0]) {
  const receiver = await startReceiver(answers);
  const post = { ...(await event()), ...more, url: receiver.url };
  const answer = await postSigned(post, HERE);
  return { ...receiver, post, answer, got: receiver.received[0] as Received };
}
const verified = ({ headers, body }: Received, secret = SECRET) =>
  new Webhook(secret).verify(body, headers as Record<string, string>);

/** A challenge to a receiver, and what it got. */
async function challenged(answers?: Parameters<typeof startReceiver>[0]) {
  const receiver = await startReceiver(answers);
  const reason = await challenge({ url: receiver.url, secret: SECRET, subscriptionId: 'sub_1' }, HERE);
  return { reason, got: receiver.received[0] as Received };
}
const echo = ({ body }: Received) => ({
  status: 200,
  body: JSON.stringify({ challenge: JSON.parse(body).challenge }),
});

/** What happens to two events whose receiver answers the first one with this status. */
async function afterFirst(status: number) {
  const { state, posts, receive } = createDelivery({ hold: undefined });
  state.answer = { status, body: '' };
  const [first] = await receive();
  state.answer = { status: 204, body: '' };
  const [second] = await receive(message(2));
  return { first, second, posted: posts.length };
}

test('delivery-status-last-error-category', async () => {
  const { subscribed, ends, deliverAll, receives } = postingServer();
  await subscribed();
  const answers: [Answer, string][] = [
    [{ status: 404, body: 'planted' }, 'http_4xx'],
    [{ status: 503, body: 'planted' }, 'http_5xx'],
    [{ error: 'timeout' }, 'timeout'],
    [{ error: 'tls_error' }, 'tls_error'],
    [{ error: 'connection_refused' }, 'connection_refused'],
  ];
  for (const [index, [answer, category]] of answers.entries()) {
    const apart = postingServer();
    await apart.subscribed();
    apart.receives.answer = answer;
    await apart.ends(index);
    await apart.deliverAll();
    const { result } = await apart.subscribed();
    expect(result.deliveryStatus.lastError).toBe(category);
    expect(JSON.stringify(result)).not.toContain('planted');
  }
  receives.answer = { status: 204, body: '' };
  await ends(1);
  await deliverAll();
  expect((await subscribed()).result.deliveryStatus.lastError).toBeNull();
});

test('delivery-post-json', async () => {
  const { got } = await received();
  expect([got.headers['content-type'], JSON.parse(got.body).name]).toEqual(['application/json', 'task.finished']);
});

test('delivery-standard-webhooks-headers', async () => {
  const { got, post } = await received();
  expect(got.headers).toMatchObject({
    'webhook-id': JSON.parse(post.body).eventId,
    'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
    'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
  });
});

test('delivery-subscription-id-header', async () => {
  const { got, post } = await received();
  expect(got.headers['x-mcp-subscription-id']).toBe(post.subscriptionId);
  const own = Object.keys(got.headers).filter((name) => name.startsWith('x-'));
  expect(own).toEqual(['x-mcp-subscription-id']);
});

test('delivery-signature-formula', async () => {
  const { got } = await received();
  expect(verified(got)).toEqual(JSON.parse(got.body));
  expect(() => verified({ ...got, body: `${got.body} ` })).toThrow('No matching signature');
});

test('delivery-retry-regenerates-signature', async () => {
  const { received: all, post } = await received();
  await postSigned(post, { ...HERE, now: () => Date.now() + 60_000 });
  const [first, second] = all.map(({ headers }) => headers);
  expect(second?.['webhook-id']).toBe(first?.['webhook-id']);
  for (const name of ['webhook-timestamp', 'webhook-signature']) expect(second?.[name]).not.toBe(first?.[name]);
});

test('delivery-dual-sign-on-rotation', async () => {
  const { subscribed, ends, deliverAll } = postingServer();
  await subscribed();
  await subscribed({}, { secret: OTHER });
  await ends(1);
  const [post] = await deliverAll();
  const { got } = await received({ secrets: post?.secrets ?? [] });
  expect(verified(got, OTHER)).toEqual(verified(got, SECRET));
});

test('delivery-body-size', async () => {
  const { subscribed, ends, deliverAll } = postingServer();
  await subscribed();
  await ends(1, { tool: 'x'.repeat(64), reason: 'x'.repeat(128), isError: true });
  const [post] = await deliverAll();
  expect(Buffer.byteLength(post?.body ?? 'x'.repeat(2_048))).toBeLessThan(2_048);
});

test('delivery-413-non-retryable', async () =>
  expect(await afterFirst(413)).toEqual({ first: true, second: true, posted: 2 }));

test('delivery-410-non-retryable', async () =>
  expect(await afterFirst(410)).toEqual({ first: true, second: true, posted: 2 }));

test('delivery-retries-bounded', async () => {
  // By time, not by count, and longer than the draft advises: until `refreshBefore`, and before SQS drops the message.
  const { context, state } = createDelivery({ hold: undefined });
  state.answer = { status: 503, body: '' };
  const after = (days: number) => deliver(message(1), T0 - days * DAY, context);
  expect(await after(13)).toMatchObject({ again: expect.any(Number) });
  expect(await after(14)).toBe('done');
});

test('ssrf-validate-callback-url', async () => {
  for (const url of ['http://receiver.example/', 'https://user@receiver.example/', 'https://']) {
    expect((await postingServer().subscribed({}, { url })).error.code).toBe(-32602);
  }
});

const PRIVATE = ['10.0.0.1', '127.0.0.1', '169.254.169.254', '100.64.0.1', '::1', 'fd00::1', '::ffff:10.0.0.1'];
const resolvesTo = (address: string) => ({
  resolve: async () => [{ address, family: address.includes(':') ? 6 : 4 }],
});

test('ssrf-reject-non-routable', async () => {
  const target = { url: URL_, secret: SECRET, subscriptionId: 'sub_1' };
  for (const address of PRIVATE) expect(await challenge(target, resolvesTo(address))).toBe('connection_refused');
});

test('ssrf-validate-at-delivery-time', async () => {
  const post = await event();
  for (const address of PRIVATE) {
    expect(await postSigned(post, resolvesTo(address))).toEqual({ error: 'connection_refused' });
  }
});

test('ssrf-no-redirects', async () => {
  const { received: other, url } = await startReceiver();
  const { answer } = await received({}, () => ({ status: 302, headers: { location: url } }));
  expect([answer, other]).toEqual([{ status: 302, body: '' }, []]);
});

test('verification-required-before-delivery', async () => {
  const { subscribed, receiver, ends, deliverAll, cursor } = postingServer();
  receiver.refuses = 'challenge_failed';
  await cursor();
  await subscribed();
  await ends(1);
  expect(await deliverAll()).toEqual([]);
});

test('verification-challenge-echo', async () => {
  const { reason, got } = await challenged(echo);
  expect([reason, JSON.parse(got.body)]).toEqual([
    undefined,
    { type: 'verification', challenge: expect.stringMatching(/^[\w-]{43}$/) },
  ]);
});

test('verification-failure-error', async () => {
  const { subscribed, receiver } = postingServer();
  for (const reason of ['challenge_failed', 'connection_refused', 'timeout'] as const) {
    receiver.refuses = reason;
    expect((await subscribed()).error).toMatchObject({ code: -32015, data: { reason } });
  }
  expect((await challenged(() => ({ status: 200, body: '{"challenge":"no"}' }))).reason).toBe('challenge_failed');
});

test('verification-cached-per-principal-url', async () => {
  const { subscribed, asked, caller, call, subscription } = postingServer();
  const failures = { arguments: { status: 'failed' } };
  await subscribed();
  await subscribed();
  expect((await subscribed(failures)).result).toBeDefined();
  expect(asked).toHaveLength(1);
  await subscribed({}, {}, {}, { ...caller, key: 'owner#b' });
  await subscribed({}, { url: `${URL_}&other` });
  expect(asked).toHaveLength(3);
  // Once none of them lives, nothing shows that the receiver still wants deliveries.
  await call('events/unsubscribe', subscription());
  await call('events/unsubscribe', subscription(failures));
  await subscribed();
  expect(asked).toHaveLength(4);
});

test('verification-uses-ssrf-hardened-path', async () => {
  const { received: other, url } = await startReceiver(echo);
  const { reason } = await challenged(() => ({ status: 307, headers: { location: url } }));
  expect([reason, other]).toEqual(['http_4xx', []]);
});

test('verification-no-raw-endpoint-responses', async () => {
  const { reason } = await challenged(() => ({ status: 200, body: 'planted' }));
  expect(reason).toBe('challenge_failed');
  const { subscribed, receiver } = postingServer();
  receiver.refuses = reason;
  expect((await subscribed()).error).toEqual({
    code: -32015,
    message: 'CallbackEndpointError',
    data: { reason: 'challenge_failed' },
  });
});

test('envelope-type-discriminator', async () => {
  const { got } = await challenged(echo);
  expect(JSON.parse(got.body)).toHaveProperty('type');
  expect(JSON.parse((await event()).body)).not.toHaveProperty('type');
});

test('envelope-signed-like-deliveries', async () => {
  const { got } = await challenged(echo);
  expect(verified(got)).toEqual(JSON.parse(got.body));
  const names = ({ headers }: Received) => Object.keys(headers).toSorted();
  expect(names(got)).toEqual(names((await received()).got));
});

test('envelope-webhook-id-format', async () => {
  const ids = [await challenged(echo), await challenged(echo)].map(({ got }) => got.headers['webhook-id']);
  for (const id of ids) expect(id).toMatch(/^msg_verification_[0-9a-f]{32}$/);
  expect(ids[0]).not.toBe(ids[1]);
});

test('authz-subscribe-time', async () => {
  const { subscribed, caller, task } = postingServer();
  const { taskId } = task('t', { tool: 'required' });
  const few = { ...caller, scopes: ['tasks'] };
  for (const wanted of [{ tool: 'required' }, { taskId }]) {
    expect((await subscribed({ arguments: wanted }, {}, {}, few)).error).toMatchObject({ message: 'Forbidden' });
  }
});

test('authz-delivery-time-reverify', async () => {
  const { subscribed, ends, deliverAll, caller } = postingServer();
  await subscribed();
  await ends(1, { scopes: ['ops'] });
  await ends(2);
  await subscribed({}, {}, {}, { ...caller, scopes: ['tasks'] });
  expect(tasksOf(await deliverAll())).toEqual(['t2']);
});

test('payload-minimality', async () => {
  const { subscribed, task, deliverAll } = postingServer();
  const { taskId } = task('t', { status: 'completed', result: '"planted"', arguments: '"planted"' });
  await subscribed({ arguments: { taskId } });
  const [post] = await deliverAll();
  expect(post?.body).toContain(taskId);
  expect(post?.body).not.toContain('planted');
});
