import { describe, expect, test } from 'vitest';
import { limits } from '../../../functions/tasks/limits.ts';
import { Auth } from '../../../lib/index.ts';
import { serverSettings } from '../../../lib/server-settings.ts';
import { fakeServer, manifest } from './support/fake-server.ts';
import { endpoint } from './support/posted.ts';

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
const APP = 'https://app.example';

async function send(headers: Record<string, string>, body: string = JSON.stringify(ping), method = 'POST') {
  const fake = fakeServer();
  const sent = { 'mcp-protocol-version': '2025-11-25', ...headers };
  const reply = await endpoint({ method, headers: sent, body }, fake.server);
  return { ...reply, did: fake.did, body: String(reply.body) };
}

/** The headers of an answer to any client. */
const ANY_ANSWER = ['content-type', 'x-content-type-options'];

describe('browsers', () => {
  test.each([
    ['https://evil.example'],
    ['http://app.example'],
    ['https://app.example.evil.example'],
    ['https://app.example:8443'],
    ['https://APP.example'],
    ['http://localhost:'],
    ['http://localhost:80@evil.example'],
    ['null'],
    [''],
    [`${APP}, ${APP}`],
  ])('of a page at "%s" nothing is read, and no answer can be (A-08)', async (origin) => {
    for (const method of ['POST', 'GET', 'DELETE', 'OPTIONS']) {
      const { status, headers, did } = await send({ origin }, '{"id":1}', method);
      expect([method, status, Object.keys(headers), did]).toEqual([method, 403, ANY_ANSWER, []]);
    }
  });

  test('a server that names no origins lets in pages of this machine only (A-08)', async () => {
    const { allowedOrigins } = serverSettings({ auth: Auth.anonymous() });
    const { server } = fakeServer({ manifest: { ...manifest, allowedOrigins } });
    const at = (origin: string) =>
      endpoint({ method: 'OPTIONS', headers: { origin }, body: '' }, server).then(({ status }) => status);
    for (const origin of ['http://localhost:6274', 'http://127.0.0.1:3000', 'http://[::1]:1']) {
      expect(await at(origin)).toBe(200);
    }
    for (const origin of ['https://localhost:6274', 'http://127.0.0.2:1', 'https://app.example']) {
      expect(await at(origin)).toBe(403);
    }
  });

  test('a preflight allows the headers of both revisions, and no browser credentials (A-23)', async () => {
    const asked = { 'access-control-request-headers': 'x-other, mcp-param-a, Mcp-Param-B, mcp-param-, mcp-param-a b' };
    const { status, headers, body } = await send({ origin: APP, ...asked }, '', 'OPTIONS');
    expect([status, body]).toEqual([200, '\n']);
    expect(headers).toEqual({
      'access-control-allow-origin': APP,
      'access-control-allow-methods': 'POST, GET, DELETE, OPTIONS',
      'access-control-allow-headers':
        'authorization, content-type, accept, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id, ' +
        'last-event-id, idempotency-key, mcp-param-a, mcp-param-b',
      'access-control-max-age': '7200',
      'access-control-expose-headers': 'www-authenticate, mcp-session-id, retry-after',
      vary: 'origin',
      'content-type': 'text/plain',
      'x-content-type-options': 'nosniff',
    });
  });

  test('an allowed page may read every answer, errors too, and what it needs of its headers (A-23)', async () => {
    const initialize = { ...ping, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } };
    for (const [body, status] of [
      [JSON.stringify(initialize), 200],
      ['{', 400],
      ['x'.repeat(limits.body + 1), 413],
    ] as const) {
      const reply = await send({ origin: APP }, body);
      expect(reply.status).toBe(status);
      expect(reply.headers).toMatchObject({
        'access-control-allow-origin': APP,
        'access-control-expose-headers': expect.stringContaining('mcp-session-id'),
        vary: 'origin',
      });
    }
  });

  test('a client that is not a browser gets no CORS headers', async () => {
    expect(Object.keys((await send({})).headers)).toEqual(ANY_ANSWER);
  });
});

describe('what is too much', () => {
  /** `levels` of lists in a message, which is a level itself, like its params. */
  const nested = (levels: number) =>
    `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":${'['.repeat(levels - 2)}${']'.repeat(levels - 2)}}}`;

  test('a message as deep as allowed is read, one level more is refused by its id', async () => {
    expect(JSON.parse((await send({}, nested(limits.jsonDepth))).body)).toEqual({ jsonrpc: '2.0', id: 7, result: {} });
    const { status, body } = await send({}, nested(limits.jsonDepth + 1));
    expect([status, JSON.parse(body)]).toMatchObject([400, { id: 7, error: { code: -32600 } }]);
  });

  test.each([
    ['lists', '[', ']'],
    ['objects', '{"a":', '}'],
  ])('a body full of nothing but %s within each other is refused like any other', async (_what, open, close) => {
    const levels = Math.floor((limits.body - 100) / (open.length + close.length));
    const inner = `${open.repeat(levels)}${open === '[' ? '' : 1}${close.repeat(levels)}`;
    const { status, body } = await send({}, `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":${inner}}}`);
    expect([status, JSON.parse(body).error.code]).toEqual([400, -32600]);
  });

  test('the size of a body counts its bytes, not its characters', async () => {
    const text = JSON.stringify({ ...ping, params: { a: '世'.repeat(limits.body / 3) } });
    expect(text.length).toBeLessThan(limits.body);
    expect((await send({}, text)).status).toBe(413);
  });

  test('thousands of headers, and names that objects have by themselves, are headers like others', async () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`x-${at}`, 'y']));
    const odd = Object.fromEntries(['__proto__', 'constructor', 'toString'].map((name) => [name, 'origin']));
    expect((await send({ ...many, ...odd })).status).toBe(200);
  });
});
