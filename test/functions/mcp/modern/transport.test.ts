import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { type Headers_, type ModernOptions, modernMessage } from '../../../support/clients.ts';
import { clockedServer, fakeServer } from '../support/fake-server.ts';
import { endpoint, exchanged, modernCall } from '../support/posted.ts';

/** Sends a body to the endpoint; all that comes is judged by the published schemas. */
const send = (body: unknown, headers: Headers_, fake = fakeServer()) => exchanged(fake.server, body, headers);

const modern = (
  method: string,
  params: Record<string, unknown> = {},
  options: ModernOptions = {},
  fake = fakeServer(),
) => modernCall(fake.server, method, params, options);

describe('Accept', () => {
  const accepted: [string, string | undefined, string][] = [
    ['nothing said', undefined, 'application/json'],
    ['empty', '', 'application/json'],
    ['anything', '*/*', 'application/json'],
    ['anything, at last', 'text/html, */*;q=0.1', 'application/json'],
    ['both', 'application/json, text/event-stream', 'application/json'],
    ['only JSON', 'application/json', 'application/json'],
    ['only JSON, otherwise written', 'Application/JSON ; q=1', 'application/json'],
    ['any application type', 'application/*', 'application/json'],
    ['only streams', 'text/event-stream', 'text/event-stream'],
    ['only text', 'text/*', 'text/event-stream'],
  ];
  test.each(accepted)('%s: the answer comes as %s / %s (A-07, A-10)', async (_what, accept, type) => {
    const older = { jsonrpc: '2.0', id: 'x', method: 'tools/list' };
    for (const reply of [
      await modern('tools/list', {}, { headers: { accept } }),
      await send(older, { 'mcp-protocol-version': '2025-11-25', accept }),
    ]) {
      expect([reply.status, reply.headers['content-type']]).toEqual([200, type]);
      expect(reply.messages).toEqual([{ jsonrpc: '2.0', id: expect.anything(), result: expect.anything() }]);
    }
  });

  test('an error is JSON with its status, for any Accept header (A-07, A-10)', async () => {
    const reply = await modern('nope', {}, { headers: { accept: 'text/event-stream' } });
    expect([reply.status, reply.headers['content-type']]).toEqual([404, 'application/json']);
  });

  test.each(['text/event-stream', 'application/json, text/event-stream'])(
    'no stream is kept back by a proxy: %s (docs/protocol.md 1.3)',
    async (accept) => {
      const reply = await modern(
        'subscriptions/listen',
        { notifications: {} },
        { headers: { accept } },
        clockedServer(),
      );
      const simple = await modern('tools/list', {}, { headers: { accept } });
      for (const { headers } of [reply, simple]) {
        if (headers['content-type'] === 'text/event-stream') expect(headers['x-accel-buffering']).toBe('no');
      }
    },
  );
});

describe('no sessions, no resuming (D-32)', () => {
  test('a GET is not offered, with any headers (D-32)', async () => {
    for (const more of [{}, { 'last-event-id': 'x' }, { 'mcp-session-id': 'x', 'last-event-id': 'x' }]) {
      const reply = await send(undefined, { 'mcp-protocol-version': '2026-07-28', ...more });
      expect([reply.status, reply.headers.allow]).toEqual([405, 'POST']);
    }
  });

  test('no stream has an event id, and Last-Event-ID changes nothing (D-32)', async () => {
    const headers = { accept: 'text/event-stream', 'last-event-id': '5', 'mcp-session-id': 'forged' };
    for (const [method, params] of [
      ['tools/list', {}],
      ['subscriptions/listen', { notifications: {} }],
      ['tools/call', { name: 'optional', _meta: { progressToken: 1 } }],
    ] as const) {
      const reply = await modern(method, params, { headers, capabilities: {} }, clockedServer());
      expect(reply.status).toBe(200);
      expect(reply.raw).toMatch(/^(: |data: \{)/);
      expect(reply.raw).not.toMatch(/^(id|retry|event):/m);
      expect(Object.keys(reply.headers)).not.toContain('mcp-session-id');
    }
  });
});

describe('_meta', () => {
  test('keys the server does not know change nothing, reserved ones neither (A-21)', async () => {
    const strange = {
      'io.modelcontextprotocol/related-task': { taskId: 'x' },
      'io.modelcontextprotocol/subscriptionId': 5,
      'io.modelcontextprotocol/unheard-of': null,
      'com.example/x': { __proto__: null, deep: [{}] },
      constructor: 'x',
      progressToken: { no: 'token' },
    };
    const plain = await modern('tools/call', { name: 'plain' });
    const { body, headers } = modernMessage('tools/call', { name: 'plain' });
    const meta = { ...strange, ...body.params._meta };
    const reply = await send({ ...body, params: { ...body.params, _meta: meta } }, headers);
    expect(reply.last.result).toEqual(plain.last.result);
  });
});

test('a tool list is the same for every caller and after any call (D-17)', async () => {
  const fake = fakeServer();
  const first = await modern('tools/list', {}, {}, fake);
  await modern('tools/call', { name: 'optional' }, {}, fake);
  const session = { 'mcp-session-id': 'x' };
  for (const options of [{}, { capabilities: {} }, { capabilities: { roots: {} }, headers: session }]) {
    expect((await modern('tools/list', {}, options, fake)).last.result).toEqual(first.last.result);
  }
});

test('a requested log level has no effect: no log message on any stream (D-27)', async () => {
  const { body, headers } = modernMessage('tools/call', { name: 'optional' }, { capabilities: {} });
  for (const level of ['debug', 'emergency']) {
    const _meta = { ...body.params._meta, progressToken: 1, 'io.modelcontextprotocol/logLevel': level };
    const fake = clockedServer();
    fake.server.store.get = reporting(fake);
    const { messages } = await send({ ...body, params: { ...body.params, _meta } }, headers, fake);
    const methods = messages.map(({ method }) => method);
    expect(methods).toContain('notifications/progress');
    expect(methods).not.toContain('notifications/message');
  }
});

test.each(['bogus', 'INFO', '', 5, null])('an unknown log level is refused: %j (D-27)', async (level) => {
  const { body, headers } = modernMessage('tools/call', { name: 'optional' }, { capabilities: {} });
  const _meta = { ...body.params._meta, 'io.modelcontextprotocol/logLevel': level };
  const { status, last } = await send({ ...body, params: { ...body.params, _meta } }, headers, fakeServer());
  expect([status, last.error.code]).toEqual([400, -32602]);
  expect(last.error.message).toContain('logLevel');
});

/** A store whose tasks report something new at every look. */
function reporting({ server, records }: ReturnType<typeof fakeServer>): typeof server.store.get {
  return async ({ taskId }) => {
    const record = records.get(taskId);
    return record && { ...record, updatedAt: server.now(), statusMessage: `at ${server.now()}` };
  };
}

test('streams of the endpoint are readable once, as bytes of whole frames (A-11)', async () => {
  const { body, headers } = modernMessage('subscriptions/listen', { notifications: {} });
  const request = { method: 'POST', headers: headers as Record<string, string>, body: JSON.stringify(body) };
  const reply = await endpoint(request, clockedServer().server);
  expect(reply.body).toBeInstanceOf(Readable);
  const frames = typeof reply.body === 'string' ? [] : await reply.body.toArray();
  for (const frame of frames) expect(String(frame)).toMatch(/^(: [^\n]*|data: [^\n]+)\n\n$/);
});
