import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { limits } from '../../../functions/tasks/limits.ts';
import type { FaultCall, FaultService } from '../../../local/testing.ts';
import { internalsIn } from '../../proofs/fuzz/judge/judge.ts';
import { overHttp } from '../../proofs/fuzz/over-http.ts';
import {
  type Answer,
  ended,
  FORMS,
  legacySession,
  modernMessage,
  modernRequest,
  openStream,
  POSTED,
  poll,
  post,
  runTask,
} from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';

const cloud = useCloud('brief');
const url = () => `${cloud().url}/mcp`;
afterEach(() => cloud().faults.clear());

const isEndpoint = (caller: string) => caller.startsWith('ServerEndpoint');
const works = async () => expect((await runTask(url(), 'echo', { still: 'here' })).status).toBe('completed');

describe('AWS throttles the endpoint, longer than the SDK tries', () => {
  const throttled = { dynamodb: 'ProvisionedThroughputExceededException' } as Partial<Record<FaultService, string>>;
  const throttle = (which: (call: FaultCall) => boolean) =>
    cloud().faults.use((call) => {
      if (call.at !== 'before' || !isEndpoint(call.caller) || !which(call)) return undefined;
      if (call.service === 'lambda') return { error: 'TooManyRequestsException', status: 429 };
      return { error: throttled[call.service] ?? 'ThrottlingException' };
    });

  function refused({ status, headers, body }: Answer, expected = 200): void {
    expect([status, headers.get('retry-after')]).toEqual([expected, expected === 429 ? '5' : null]);
    expect(body.error).toMatchObject({ code: -32603, message: expect.stringContaining('try again') });
    const shown = { text: JSON.stringify(body), headers: Object.fromEntries(headers) };
    expect(internalsIn(shown, [...cloud().tables, ...cloud().buckets])).toEqual([]);
  }
  const modern = (method: string, params: Record<string, unknown>) => () => modernRequest(url(), method, params);
  const call = (name: string) => modern('tools/call', { name, arguments: {} });
  async function asking(): Promise<string> {
    const { taskId } = (await call('ask')()).body.result;
    await poll(url(), taskId, (task) => task.status === 'input_required');
    return taskId;
  }
  const accepted = { action: 'accept', content: { ok: true } };
  const inputResponses = { 'r1.confirm': accepted };
  /** A task of a 2025-11-25 session that asks on a stream, and the answer to POST. */
  async function legacyAsking() {
    const { headers, request } = await legacySession(url());
    const { taskId } = (await request('tools/call', { name: 'ask', task: {} })).body.result.task;
    const result = { jsonrpc: '2.0', id: 'q', method: 'tasks/result', params: { taskId } };
    const stream = await openStream(url(), result, headers);
    for await (const { data } of stream.events) {
      const { id, method } = data as Answer['body'];
      if (method !== 'elicitation/create') continue;
      stream.close();
      return { taskId, answer: () => post(url(), { jsonrpc: '2.0', id, result: accepted }, headers) };
    }
    throw new Error('It asked nothing');
  }
  /** A 2026-07-28 call without a task that was answered with questions, and the call that continues it. */
  async function inlineAsking() {
    const send = (more: object) =>
      modernRequest(url(), 'tools/call', { name: 'ask_optional', arguments: {}, ...more }, { capabilities: FORMS });
    const { requestState } = (await send({})).body.result;
    return { answer: () => send({ requestState, inputResponses }) };
  }

  test('at every call, either revision: the client is asked to retry, and that works (A-15, row 1)', async () => {
    const [polled, answered, cancelled] = [await asking(), await asking(), await asking()];
    const session = await legacySession(url());
    const legacy = (method: string, params: object) => () => session.request(method, params);
    const requests = [
      ...[call('echo'), call('direct_echo'), modern('tasks/get', { taskId: polled })],
      ...[modern('tasks/update', { taskId: answered, inputResponses }), modern('tasks/cancel', { taskId: cancelled })],
      modern('tools/call', { name: 'get_task_result', arguments: { taskId: polled, waitSeconds: 0 } }),
      ...[legacy('tools/call', { name: 'echo', arguments: {}, task: {} }), legacy('tools/call', { name: 'echo' })],
      legacy('tasks/get', { taskId: polled }),
      ...[legacy('tasks/list', {}), legacy('logging/setLevel', { level: 'info' })],
    ];
    const waiting = legacy('tasks/result', { taskId: polled });
    throttle(() => true);
    for (const answer of await Promise.all([...requests, waiting].map((request) => request()))) refused(answer);
    cloud().faults.clear();
    for (const request of requests) expect((await request()).body).toHaveProperty('result');
    expect((await poll(url(), answered, ended)).result.structuredContent.round).toBe(2);
    await works();
  });

  test('only at the start of a run: 429, on every way to a start (rows 2 and 16)', async () => {
    const [updated, posted, stated] = [await asking(), await legacyAsking(), await inlineAsking()];
    const session = await legacySession(url());
    const legacy = (params: object) => () => session.request('tools/call', { name: 'echo', arguments: {}, ...params });
    const keyed = { _meta: { 'mcp-task-server/idempotencyKey': 'k'.repeat(32) } };
    const starts = [
      ...[call('echo'), modern('tools/call', { name: 'echo', arguments: {}, ...keyed })],
      () => modernRequest(url(), 'tools/call', { name: 'echo', arguments: {} }, { capabilities: {} }),
      ...[legacy({}), legacy({ task: {} }), legacy({ task: {}, ...keyed })],
    ];
    const answers = [modern('tasks/update', { taskId: updated, inputResponses }), posted.answer, stated.answer];
    const struck = throttle(({ service }) => service === 'states');
    for (const answer of await Promise.all([...starts, ...answers].map((send) => send()))) {
      refused(answer, 429);
      expect(answer.body.error.data).toEqual({ reason: 'Unavailable' });
    }
    // Each has one attempt, and waits for no retry.
    expect(struck.hits).toBe(starts.length + answers.length);
    expect((await session.request('tasks/list', {})).body.result.tasks).toHaveLength(1);
    cloud().faults.clear();
    for (const send of starts) expect((await send()).body).toHaveProperty('result');
    for (const send of answers) expect([200, 202]).toContain((await send()).status);
    for (const taskId of [updated, posted.taskId]) {
      expect((await poll(url(), taskId, ended)).result.structuredContent.round).toBe(2);
    }
  });

  test('while a session opens its stream: the stream says when to come back (B-10)', async () => {
    const { headers } = await legacySession(url());
    throttle(() => true);
    const stream = await openStream(url(), undefined, headers, 'GET');
    const events = [];
    for await (const event of stream.events) events.push(event);
    expect(stream.status).toBe(200);
    expect(events).toEqual([{ id: expect.any(String), retry: expect.any(Number), data: '' }]);
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
    [limits.body - 1, 200],
    [limits.body, 200],
    [limits.body + 1, 413],
    [2_000_000, 413],
    [7_000_000, 413],
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
