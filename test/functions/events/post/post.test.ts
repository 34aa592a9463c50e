import http, { createServer } from 'node:http';
import { createServer as createTcp } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { challenge } from '../../../../functions/events/post/challenge.ts';
import { errorOf, postSigned } from '../../../../functions/events/post/post.ts';
import { callbackUrl, pathOf } from '../../../../functions/events/post/url.ts';
import { listening, startReceiver } from './receiver.ts';

const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;
const [SECRET, OTHER] = [secretOf(1), secretOf(2)];
const post = { secrets: [SECRET], webhookId: 'evt_1', subscriptionId: 'sub_1', body: '{"name":"task.finished"}' };
const LOOPBACK = { loopback: true };

test('a request is signed as the test vector of Standard Webhooks', async () => {
  const { url, received } = await startReceiver();
  const vector = {
    ...{ url, subscriptionId: 'sub_1', webhookId: 'msg_p5jXN8AQM9LWM0D4loKWxJek' },
    ...{ secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], body: '{"test": 2432232314}' },
  };
  await postSigned(vector, { ...LOOPBACK, now: () => 1_614_265_330_999 });
  expect(received).toEqual([
    {
      path: '/',
      body: vector.body,
      headers: expect.objectContaining({
        'content-type': 'application/json',
        'webhook-id': vector.webhookId,
        'webhook-timestamp': '1614265330',
        'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
        'x-mcp-subscription-id': 'sub_1',
      }),
    },
  ]);
});

test('while a secret rotates both sign, and a receiver that knows one of them verifies', async () => {
  const { url, received } = await startReceiver();
  await postSigned({ ...post, url, secrets: [SECRET, OTHER], body: '{"text":"Zürich"}' }, LOOPBACK);
  const [{ body, headers } = { body: '', headers: {} }] = received;
  for (const secret of [SECRET, OTHER]) {
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toEqual({ text: 'Zürich' });
  }
  const stranger = new Webhook(secretOf(3));
  expect(() => stranger.verify(body, headers as Record<string, string>)).toThrow();
});

test('a secret without padding signs as the one with padding', async () => {
  const { url, received } = await startReceiver();
  for (const secret of [SECRET, SECRET.replace(/=+$/, '')]) {
    await postSigned({ ...post, url, secrets: [secret] }, { ...LOOPBACK, now: () => 0 });
  }
  const [padded, unpadded] = received.map(({ headers }) => headers['webhook-signature']);
  expect(unpadded).toBe(padded);
});

test.each([
  '/hooks?mcp_event_subscription=0b5e3c1e-1111-4a',
  '/a%2fb/%7Euser;v=1?q=%20+a&b[]=1&&c',
  "/it's?x=~",
  '/a/../b/./c?d=/../e',
  '?only=query',
])('path and query arrive unchanged: %s', async (path) => {
  const { url, received } = await startReceiver();
  await postSigned({ ...post, url: `${url}${path}#fragment` }, LOOPBACK);
  expect(received.map((one) => one.path)).toEqual([path.startsWith('?') ? `/${path}` : path]);
});

test.each([
  ['https://a.example/ä b', '/%C3%A4%20b'],
  ['https:a.example/b', '/b'],
  ['https:///a.example/b', '/b'],
  ['https://a.example', '/'],
  ['https://a.example\\b', '/b'],
])('what a request cannot carry of %s takes the form of the standard', (text, path) => {
  const url = callbackUrl(text, { loopback: false });
  expect(url?.hostname).toBe('a.example');
  expect(url && pathOf(text, url)).toBe(path);
});

test.each([
  [{ status: 200 }, undefined],
  [{ status: 204 }, undefined],
  [{ status: 301 }, 'http_4xx'],
  [{ status: 410 }, 'http_4xx'],
  [{ status: 503 }, 'http_5xx'],
])('an answer %j gives the category %s', async (answer, category) => {
  const { url } = await startReceiver(() => answer);
  expect(errorOf(await postSigned({ ...post, url }, LOOPBACK))).toBe(category);
});

test.each([301, 302, 303, 307, 308])('a redirect with %i is not followed', async (status) => {
  const target = await startReceiver();
  const { url } = await startReceiver(() => ({ status, headers: { location: target.url } }));
  expect(await postSigned({ ...post, url }, LOOPBACK)).toEqual({ status, body: '' });
  expect(target.received).toEqual([]);
});

test('a proxy of the environment is not used', async () => {
  const proxy = await startReceiver();
  const { url, received } = await startReceiver();
  const restore = http.setGlobalProxyFromEnv({ http_proxy: proxy.url, https_proxy: proxy.url });
  try {
    await postSigned({ ...post, url }, LOOPBACK);
  } finally {
    restore();
  }
  expect(received).toHaveLength(1);
  expect(proxy.received).toEqual([]);
});

test('a port without a listener refuses the connection', async () => {
  const server = createServer();
  const url = `http://127.0.0.1:${await listening(server)}/`;
  await new Promise((closed) => server.close(closed));
  expect(await postSigned({ ...post, url }, LOOPBACK)).toEqual({ error: 'connection_refused' });
});

test('a receiver that does not answer in time gives timeout, before and after the connection', async () => {
  const silent = createServer(() => {});
  const url = `http://127.0.0.1:${await listening(silent)}/`;
  expect(await postSigned({ ...post, url }, { ...LOOPBACK, timeout: 50 })).toEqual({ error: 'timeout' });
  silent.closeAllConnections();
  const never = () => new Promise<never>(() => {});
  const byName = { ...post, url: 'https://receiver.example/' };
  expect(await postSigned(byName, { resolve: never, timeout: 5 })).toEqual({ error: 'timeout' });
});

test('a receiver that answers with another protocol has answered wrongly, at once', async () => {
  const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
  const server = createTcp((socket) => socket.once('data', () => socket.write(upgrade)));
  const url = `http://127.0.0.1:${await listening(server)}/`;
  const answer = await postSigned({ ...post, url }, LOOPBACK);
  expect(answer).toEqual({ status: 101, body: '' });
  expect(errorOf(answer)).toBe('http_4xx');
});

test('a receiver that does not speak TLS, or closes the handshake, gives tls_error', async () => {
  const server = createTcp((socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')));
  const url = `https://127.0.0.1:${await listening(server)}/`;
  expect(await postSigned({ ...post, url }, LOOPBACK)).toEqual({ error: 'tls_error' });
});

test('the handshake names the host of the URL, not the checked address', async () => {
  const hello: string[] = [];
  const server = createTcp((socket) =>
    socket.once('data', (data) => {
      hello.push(data.toString('latin1'));
      socket.destroy();
    }),
  );
  const url = `https://receiver.example:${await listening(server)}/`;
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
  expect(await postSigned({ ...post, url }, { ...LOOPBACK, resolve })).toEqual({ error: 'tls_error' });
  expect(hello.join()).toContain('receiver.example');
});

test('of a body without an end, only the status counts', async () => {
  const endless = createServer((_request, response) => void response.writeHead(200).write('a'.repeat(100_000)));
  const url = `http://127.0.0.1:${await listening(endless)}/`;
  expect(await postSigned({ ...post, url }, LOOPBACK)).toEqual({ status: 200, body: '' });
  const answer = await postSigned({ ...post, url }, { ...LOOPBACK, answerBytes: 65_536 });
  expect(answer).toEqual({ status: 200, body: 'a'.repeat(65_536) });
});

const target = { secret: SECRET, subscriptionId: 'sub_1' };
const challengeOf = (body: string) => JSON.parse(body).challenge;

test('a challenge is signed, and passes if its text comes back', async () => {
  const { url, received } = await startReceiver(({ body }) => ({
    ...{ status: 200, body: JSON.stringify({ challenge: challengeOf(body), more: true }) },
  }));
  expect(await challenge({ ...target, url }, LOOPBACK)).toBeUndefined();
  expect(await challenge({ ...target, url }, LOOPBACK)).toBeUndefined();
  for (const { body, headers } of received) {
    expect(headers['webhook-id']).toMatch(/^msg_verification_[0-9a-f]{32}$/);
    expect(new Webhook(SECRET).verify(body, headers as Record<string, string>)).toEqual({
      type: 'verification',
      challenge: expect.stringMatching(/^[\w-]{43}$/),
    });
  }
  expect(new Set(received.map(({ body }) => body)).size).toBe(2);
});

test.each<[string, (body: string) => { readonly status: number; readonly body?: string }, string]>([
  ['another text', () => ({ status: 200, body: '{"challenge":"a"}' }), 'challenge_failed'],
  ['text of the same length', () => ({ status: 200, body: `{"challenge":"${'a'.repeat(43)}"}` }), 'challenge_failed'],
  ['no JSON', (body) => ({ status: 200, body: challengeOf(body) }), 'challenge_failed'],
  ['null', () => ({ status: 200, body: 'null' }), 'challenge_failed'],
  ['a list', (body) => ({ status: 200, body: JSON.stringify({ challenge: [challengeOf(body)] }) }), 'challenge_failed'],
  ['nothing', () => ({ status: 204 }), 'challenge_failed'],
  [
    'more than 64 KiB',
    (body) => ({ status: 200, body: `{"challenge":"${challengeOf(body)}","a":"${'a'.repeat(65_536)}"}` }),
    'challenge_failed',
  ],
  ['the text with 500', (body) => ({ status: 500, body }), 'http_5xx'],
  ['the text with 404', (body) => ({ status: 404, body }), 'http_4xx'],
  ['the text with 302', (body) => ({ status: 302, body }), 'http_4xx'],
])('a challenge fails by %s', async (_what, answer, reason) => {
  const { url } = await startReceiver(({ body }) => answer(body));
  expect(await challenge({ ...target, url }, LOOPBACK)).toBe(reason);
});
