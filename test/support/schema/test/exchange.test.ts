import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { legacySession, modernMessage, modernRequest, openStream, post } from '../../clients.ts';
import type { SseEvent } from '../sse.ts';

/** A server with the answer of each test. */
let answer: (id: unknown, response: ServerResponse) => void;
const server = createServer(async (request, response) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  answer(text.length > 1 ? JSON.parse(text).id : undefined, response);
});
let url = '';
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const json = (make: (id: unknown) => object, status = 200) => {
  answer = (id, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', ...make(id) }));
  };
};
const sse = (make: (id: unknown) => unknown[], end = true) => {
  answer = (id, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const one of make(id)) {
      const data = typeof one === 'string' ? one : `data: ${JSON.stringify({ jsonrpc: '2.0', ...(one as object) })}`;
      response.write(`${data}\n\n`);
    }
    if (end) response.end();
  };
};
async function all(events: AsyncIterable<SseEvent>): Promise<SseEvent[]> {
  const seen: SseEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}
const listen = () => {
  const { body, headers } = modernMessage('subscriptions/listen', { notifications: { taskIds: ['t'] } });
  return openStream(url, body, headers);
};
const tag = (id: unknown) => ({ _meta: { 'io.modelcontextprotocol/subscriptionId': id } });
const ack = (id: unknown) => ({
  method: 'notifications/subscriptions/acknowledged',
  params: { notifications: {}, ...tag(id) },
});
const done = (id: unknown) => ({ id, result: { resultType: 'complete', ...tag(id) } });

describe('every answer is judged by the revision of its request', () => {
  test('a good one passes, a bad one does not', async () => {
    json((id) => ({ id, result: { resultType: 'complete' } }));
    expect((await modernRequest(url, 'tasks/cancel', { taskId: 't' })).body.result).toEqual({ resultType: 'complete' });
    await expect(modernRequest(url, 'tools/call', { name: 'x' })).rejects.toThrow(/CallToolResult/);
    await expect(legacySession(url)).rejects.toThrow(/initialize in 2025-11-25/);
  });

  test.each<[string, unknown, Record<string, string>, number]>([
    [
      'header, no envelope',
      { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      { 'MCP-Protocol-Version': '2026-07-28' },
      -32042,
    ],
    ['no version at all', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, {}, -32042],
    ['garbage', '{', {}, -32042],
    [
      'an older header',
      { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      { 'mcp-protocol-version': '2025-11-25' },
      -32020,
    ],
    ['a session', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, { 'mcp-session-id': 's' }, -32020],
    ['initialize', { jsonrpc: '2.0', id: 1, method: 'initialize' }, {}, -32020],
    ['garbage with an older header', '{', { 'mcp-protocol-version': '2025-06-18' }, -32020],
  ])('%s: the codes of that revision', async (_what, body, headers, code) => {
    json((id) => ({ id, error: { code, message: 'm', data: { elicitations: [] } } }), 400);
    await expect(post(url, body, headers)).rejects.toThrow(new RegExp(`error code ${code}`));
  });

  test('a result needs a request, a request an answer; a gateway may refuse with its own text', async () => {
    json(() => ({ id: 1, result: {} }));
    await expect(post(url, { jsonrpc: '2.0', method: 'notifications/initialized' })).rejects.toThrow(/its request/);
    answer = (_id, response) => response.writeHead(202).end();
    await expect(modernRequest(url, 'tools/list')).rejects.toThrow(/No answer to tools\/list: HTTP 202/);
    expect((await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202);
    answer = (_id, response) => response.writeHead(403, { 'content-type': 'application/json' }).end('{"message":"no"}');
    expect((await modernRequest(url, 'tools/list')).body).toEqual({ message: 'no' });
  });
});

describe('streams', () => {
  test('a listen stream that is right', async () => {
    sse((id) => [ack(id), ': comment', done(id)]);
    const stream = await listen();
    expect(stream.status).toBe(200);
    expect(
      (await all(stream.events)).map(({ data }) =>
        Object.keys(data as object)
          .sort()
          .join(),
      ),
    ).toEqual(['jsonrpc,method,params', 'id,jsonrpc,result']);
  });

  test.each<[string, (id: unknown) => unknown[], RegExp]>([
    ['starts otherwise', (id) => [done(id)], /starts with its acknowledgement/],
    ['continues after its answer', (id) => [ack(id), done(id), ack(id)], /after the answer/],
    ['has event ids', () => ['id: 1\ndata:'], /D-32/],
    ['belongs to another request', (id) => [ack(id), done(`${id}`)], /the answer has the id/],
    ['is not JSON', () => ['data: {'], /not JSON/],
  ])('one that %s', async (_what, events, problem) => {
    sse(events);
    await expect(listen().then(({ events }) => all(events))).rejects.toThrow(problem);
  });

  test('post judges a stream, too, and a resumed stream by the request it answers', async () => {
    const request = { jsonrpc: '2.0', id: 'resumed', method: 'tasks/result', params: { taskId: 't' } };
    const headers = { 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': 's' };
    sse(() => ['id: 1\nretry: 10\ndata:']);
    expect((await post(url, request, headers)).body).toBe('id: 1\nretry: 10\ndata:\n\n');
    sse(() => [{ id: 'resumed', result: { content: [] } }]);
    await expect(post(url, request, headers)).rejects.toThrow(/C-17/);
    const again = await openStream(url, undefined, { ...headers, 'last-event-id': '1' }, 'GET');
    await expect(all(again.events)).rejects.toThrow(/tasks\/result in 2025-11-25.*C-17/s);
  });

  test('hanging up ends the events; a plain error is the only event', async () => {
    sse((id) => [ack(id)], false);
    const stream = await listen();
    const events = all(stream.events);
    stream.close();
    expect((await events).length).toBeLessThanOrEqual(1);
    json((id) => ({ id, error: { code: -32602, message: 'm' } }), 400);
    expect(await all((await listen()).events)).toMatchObject([{ data: { error: { code: -32602 } } }]);
  });
});
