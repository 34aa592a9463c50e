import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { TooManyPolls } from '../../../functions/tasks/errors.ts';
import { limits } from '../../../functions/tasks/limits.ts';
import { clients } from './support/fake-clients.ts';
import { fakeServer } from './support/fake-server.ts';
import { endpoint } from './support/posted.ts';

beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());

const LEGACY = { 'mcp-protocol-version': '2025-11-25' };
const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
const { server } = fakeServer();
async function send(headers: Record<string, string>, body?: object) {
  const method = body === undefined ? 'GET' : 'POST';
  const reply = await endpoint({ method, headers, body: JSON.stringify(body) ?? '' }, server);
  return { ...reply, ...(reply.body !== '' && JSON.parse(String(reply.body))) };
}

test.each([
  ['an answer', 'POST', LEGACY, ping],
  ['an error', 'POST', LEGACY, { ...ping, method: 'no/such' }],
  ['a notification', 'POST', LEGACY, { jsonrpc: '2.0', method: 'notifications/initialized' }],
  ['a stream', 'POST', { ...LEGACY, accept: 'text/event-stream' }, ping],
  ['what is no JSON', 'POST', {}, undefined],
  ['another origin', 'POST', { ...LEGACY, origin: 'https://evil.example' }, ping],
  ['a GET', 'GET', {}, undefined],
  ['a preflight', 'OPTIONS', { origin: 'http://localhost:1' }, undefined],
])('no browser may take it for a page: %s (A-17)', async (_what, method, headers, body) => {
  const reply = await endpoint({ method, headers: headers as typeof LEGACY, body: JSON.stringify(body) ?? '' }, server);
  expect(reply.headers['x-content-type-options']).toBe('nosniff');
});

describe('a request is refused', () => {
  test('from another origin, in a sentence (A-01)', async () => {
    const { status, error } = await send({ ...LEGACY, origin: 'https://evil.example' }, ping);
    expect([status, error]).toEqual([403, { code: -32600, message: 'Origin is not allowed' }]);
  });

  test('if it answers a question in 2026-07-28, which has none', async () => {
    const { status, error } = await send(
      { 'mcp-protocol-version': '2026-07-28' },
      { jsonrpc: '2.0', id: 1, result: {} },
    );
    expect(status).toBe(400);
    expect(error.message).toBe('2026-07-28 has no requests of the server to answer');
  });

  test('if it opens a stream of a version that is unknown (B-08)', async () => {
    const { status, error } = await send({ 'mcp-protocol-version': '2024-11-05', accept: 'text/event-stream' });
    expect([status, error.code]).toEqual([400, -32022]);
  });

  test('with no word about when to come back, unless there is one', async () => {
    const { headers } = await send(LEGACY, { ...ping, method: 'no/such' });
    expect(headers).not.toHaveProperty('retry-after');
    const unknown = await send({ 'mcp-protocol-version': '2024-11-05' }, ping);
    expect(unknown.headers).not.toHaveProperty('retry-after');
    const count = () => {
      throw new TooManyPolls(7);
    };
    const busy = clients(
      fakeServer({
        pollLimit: {
          ...{ count, setInterval: () => {}, countShown: () => {}, countList: async () => {} },
          mayReadMany: async () => true,
        },
      }),
    );
    const { status, headers: told } = await busy.modern('tasks/get', { taskId: '0'.repeat(36) });
    expect([status, told['retry-after']]).toEqual([429, '7']);
  });

  test.each<[string, Record<string, string>, object, number, string]>([
    ['another type', { 'content-type': 'text/plain' }, ping, 415, 'Content-Type must be application/json'],
    ['no type to answer', { accept: 'a/b' }, ping, 406, 'Accept must allow application/json or text/event-stream'],
    ['too large a body', {}, { ...ping, x: 'x'.repeat(limits.body) }, 413, `A body has ${limits.body} bytes at most`],
    ['a session that has ended', { 'mcp-session-id': 'e' }, ping, 404, 'Session not found: initialize again'],
  ])('with %s, in a sentence', async (_name, headers, body, status, message) => {
    expect(await send({ ...LEGACY, ...headers }, body)).toMatchObject({ status, error: { message } });
  });
});

test('a body may have as many bytes as the limit says, and a type may have parameters', async () => {
  const rest = limits.body - JSON.stringify({ ...ping, x: '' }).length;
  const headers = { ...LEGACY, 'content-type': 'application/json ; charset=utf-8' };
  expect((await send(headers, { ...ping, x: 'x'.repeat(rest) })).result).toEqual({});
});

test('the version in the body decides whether a session counts (B-05, D-32)', async () => {
  const named = (version: string) => {
    const params = { _meta: { 'io.modelcontextprotocol/protocolVersion': version } };
    return send({ 'mcp-session-id': 'ended' }, { ...ping, params });
  };
  expect(await named('2026-07-28')).toMatchObject({ status: 400, error: { code: -32602 } });
  expect(await named('2025-11-25')).toMatchObject({ status: 404 });
});

test('a session that has ended is no obstacle to a new one, or to 2026-07-28 (B-05, D-32)', async () => {
  const old = { 'mcp-session-id': 'ended' };
  expect((await send({ ...LEGACY, ...old }, ping)).status).toBe(404);
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } };
  expect((await send(old, { ...ping, method: 'initialize', params })).headers).toHaveProperty('mcp-session-id');
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const discover = { ...ping, method: 'server/discover', params: { _meta } };
  const modern = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'server/discover' };
  expect((await send({ ...old, ...modern }, discover)).error).toBeUndefined();
});

test('a legacy version may stand in the body and in the header, if they agree (F-02)', async () => {
  const params = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2025-11-25' } };
  expect((await send(LEGACY, { ...ping, params })).result).toEqual({});
  expect((await send({}, { ...ping, params })).result).toEqual({});
  expect((await send({ 'mcp-protocol-version': '2025-06-18' }, { ...ping, params })).error).toBeDefined();
});

test('an unexpected error is in the log, where it came from (A-15)', async () => {
  const invoke = () => Promise.reject(new Error('planted'));
  await clients(fakeServer({ invoke })).modern('tools/call', { name: 'plain' });
  const line = JSON.parse(vi.mocked(console.error).mock.calls[0]?.[0]);
  expect(line).toMatchObject({ event: 'unexpected_error', where: 'endpoint' });
});
