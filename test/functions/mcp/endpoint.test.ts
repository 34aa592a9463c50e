import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
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
  });
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
