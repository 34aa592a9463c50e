import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { limits } from '../../../functions/tasks/limits.ts';
import type { FaultCall } from '../../../local/testing.ts';
import { internalsIn } from '../../proofs/fuzz/judge/judge.ts';
import { overHttp } from '../../proofs/fuzz/over-http.ts';
import {
  type Answer,
  legacySession,
  modernMessage,
  modernRequest,
  POSTED,
  post,
  runTask,
} from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';

const cloud = useCloud('brief');
const url = () => `${cloud().url}/mcp`;
afterEach(() => cloud().faults.clear());

const works = async () => expect((await runTask(url(), 'echo', { still: 'here' })).status).toBe('completed');

describe('AWS throttles the endpoint, longer than the SDK tries', () => {
  const throttle = (which: (call: FaultCall) => boolean) =>
    cloud().faults.use((call) => {
      if (call.at !== 'before' || !call.caller.startsWith('ServerEndpoint') || !which(call)) return undefined;
      if (call.service === 'lambda') return { error: 'TooManyRequestsException', status: 429 };
      const error = call.service === 'dynamodb' ? 'ProvisionedThroughputExceededException' : 'ThrottlingException';
      return { error };
    });
  function refused({ status, headers, body }: Answer, expected = 200): void {
    expect([status, headers.get('retry-after')]).toEqual([expected, expected === 429 ? '5' : null]);
    expect(body.error).toMatchObject({ code: -32603, message: expect.stringContaining('try again') });
    const shown = { text: JSON.stringify(body), headers: Object.fromEntries(headers) };
    expect(internalsIn(shown, [...cloud().tables, ...cloud().buckets])).toEqual([]);
  }
  const modern = (method: string, params: Record<string, unknown>) => modernRequest(url(), method, params);

  test('at every call, either revision: the client is asked to retry, and that works (A-15, row 1)', async () => {
    const { taskId } = (await modern('tools/call', { name: 'sleep', arguments: { ms: 1 } })).body.result;
    const session = await legacySession(url());
    const requests = [
      ...['echo', 'direct_echo'].map((name) => () => modern('tools/call', { name, arguments: {} })),
      () => modern('tasks/get', { taskId }),
      () => session.request('tools/call', { name: 'echo', arguments: {} }),
      () => session.request('tasks/list', {}),
    ];
    throttle(() => true);
    for (const answer of await Promise.all(requests.map((request) => request()))) refused(answer);
    cloud().faults.clear();
    for (const request of requests) expect((await request()).body).toHaveProperty('result');
    await works();
  });

  test('only at the start of a run: 429 after one attempt (row 2)', async () => {
    const struck = throttle(({ service }) => service === 'states');
    refused(await modern('tools/call', { name: 'echo', arguments: {} }), 429);
    expect(struck.hits).toBe(1);
  });

  test('at the signing key, in a fresh worker: sessions are refused for a while, all else works', async () => {
    const endpoint = cloud()
      .lambda.workers()
      .find(({ functionName }) => functionName.includes('ServerEndpoint'));
    cloud().lambda.kill(endpoint?.functionName ?? '');
    throttle(({ service }) => service === 'secretsmanager');
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    refused(await post(url(), { jsonrpc: '2.0', id: 1, method: 'initialize', params }));
    await works();
    cloud().faults.clear();
    expect((await legacySession(url())).session).not.toBe('');
  });
});

test('readers that hang up or never read hold the endpoint no longer than others', async () => {
  const { headers } = await legacySession(url());
  const { taskId } = (await modernRequest(url(), 'tools/call', { name: 'sleep', arguments: { ms: 20_000 } })).body
    .result;
  const large = { name: 'direct_echo', arguments: { text: 'x'.repeat(900_000) } };
  const requests = [
    { body: { jsonrpc: '2.0', id: 1, method: 'tasks/result', params: { taskId } }, headers },
    { body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: large }, headers },
    modernMessage('subscriptions/listen', { notifications: { taskIds: [taskId] } }),
  ].map(({ body, headers: own }) => {
    const text = JSON.stringify(body);
    const all = { host: 'localhost', ...POSTED, ...own };
    const lines = Object.entries({ ...all, 'content-length': Buffer.byteLength(text) }).map(([k, v]) => `${k}: ${v}`);
    return ['POST /mcp HTTP/1.1', ...lines, '', text].join('\r\n');
  });
  const sockets = [...requests, ...requests, ...requests, ...requests].map((request) => {
    const socket = connect(Number(new URL(url()).port), '127.0.0.1').pause();
    socket.write(request);
    return socket;
  });
  const busy = () =>
    cloud()
      .lambda.workers()
      .filter(({ functionName }) => functionName.includes('ServerEndpoint'))
      .reduce((sum, worker) => sum + worker.busy, 0);
  await expect.poll(busy).toBeGreaterThan(3);
  for (const socket of sockets.slice(0, 6)) {
    await once(socket, 'readable');
    socket.destroy();
  }
  await works();
  await expect.poll(busy).toBe(0);
  for (const socket of sockets) socket.destroy();
  await works();
});

describe('sizes', () => {
  const sized = (bytes: number) => {
    const { body, headers } = modernMessage('tools/list', { padding: '' });
    const { padding: _, ...params } = body.params as Record<string, unknown>;
    const room = bytes - Buffer.byteLength(JSON.stringify({ ...body, params: { padding: '', ...params } }));
    return { body: JSON.stringify({ ...body, params: { padding: 'x'.repeat(room), ...params } }), headers };
  };

  test.each([
    [limits.body, 200],
    [limits.body + 1, 413],
    [11_000_000, 413],
  ])('a body of %i bytes: HTTP %i, with JSON-RPC (A-05)', async (bytes, status) => {
    const { body, headers } = sized(bytes);
    expect(Buffer.byteLength(body)).toBe(bytes);
    const answer = await post(url(), body, headers);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject(status === 200 ? { result: {} } : { error: { code: -32600 } });
  });

  test.each([
    [1_000, 200],
    [8_000, 200],
    [20_000, 431],
  ])('a header of %i bytes: HTTP %i, and the server continues', async (bytes, status) => {
    const { body, headers } = modernMessage('tools/list');
    const answer = await post(url(), body, { ...headers, 'x-long': 'x'.repeat(bytes) });
    expect(answer.status).toBe(status);
    await works();
  });

  test('the longest Mcp-Name that fits is compared, not cut (D-05)', async () => {
    const name = 'n'.repeat(7_000);
    const { status, body } = await modernRequest(url(), 'tools/call', { name });
    expect([status, body.error.code]).toEqual([200, -32602]);
    const other = await modernRequest(url(), 'tools/call', { name }, { headers: { 'mcp-name': `${name}n` } });
    expect([other.status, other.body.error.code]).toEqual([400, -32020]);
  });
});

test.each(['PUT', 'PATCH', 'DELETE'])(
  '%s is not offered: 405 with Allow, through the whole stack (B-06)',
  async (method) => {
    const body = method === 'DELETE' ? null : '{}';
    const answer = await fetch(url(), { method, body, headers: { 'content-type': 'application/json' } });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
  },
);

test('a POST without a content type is 415, through the whole stack (A-02)', async () => {
  const { body, headers } = modernMessage('tools/list');
  const { send: raw, close } = overHttp(cloud());
  const all = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const answer = await raw({ method: 'POST', headers: all, body: Buffer.from(JSON.stringify(body)) });
  close();
  expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([415, -32600]);
});

describe('a header that comes twice', () => {
  const send = async (...more: [string, string][]) => {
    const { body, headers } = modernMessage('tools/list');
    const { send: raw, close } = overHttp(cloud());
    const all = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const typed: [string, string][] = [...all, ['content-type', 'application/json'], ...more];
    const answer = await raw({ method: 'POST', headers: typed, body: Buffer.from(JSON.stringify(body)) });
    close();
    return { status: answer.status, body: JSON.parse(answer.text) };
  };

  test('counts with both its values where it may have several (RFC 9110, 5.3, A-10)', async () => {
    expect((await send(['accept', 'text/event-stream'], ['accept', 'application/json'])).status).toBe(200);
    expect((await send(['accept', 'application/json'], ['accept', 'text/html'])).status).toBe(200);
    expect((await send(['accept', 'text/html'], ['accept', 'image/png'])).status).toBe(406);
  });

  test.each([
    ['mcp-method', 'tools/list'],
    ['mcp-method', 'tools/call'],
    ['mcp-protocol-version', '2025-11-25'],
  ])('is refused if a router may have used the other value: %s, %s (D-04, D-05)', async (name, value) => {
    const { status, body } = await send([name, value]);
    expect([status, body.error.code]).toEqual([400, -32020]);
  });
});
