import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { StreamResult } from '../../lambda/index.ts';
import { route, serve, streamed } from './gateway.ts';

describe('a streaming integration', () => {
  const post = (url: string, signal: AbortSignal | null = null) => fetch(`${url}/mcp`, { method: 'POST', signal });

  test('passes headers and pieces on as they come', async () => {
    const body = new PassThrough();
    const headers = { 'content-type': 'text/event-stream', 'content-length': '5' };
    const { url } = await serve(streamed(body, { statusCode: 202, headers, cookies: ['a=1', 'b=2'] }));
    const response = await post(url);
    expect([response.status, response.headers.get('content-type')]).toEqual([202, 'text/event-stream']);
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    const reader = response.body?.getReader();
    for (const piece of ['one', 'two']) {
      body.write(piece);
      expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe(piece);
    }
    body.end();
    expect(await reader?.read()).toMatchObject({ done: true });
  });

  test('many short answers over one connection are each whole', async () => {
    let count = 0;
    const invokeStreaming = async () => {
      const body = new PassThrough();
      const words = `answer ${count++}`;
      // Before, with and after the headers.
      if (count % 3 === 0) body.end(words);
      else if (count % 3 === 1) setImmediate(() => body.end(words));
      else process.nextTick(() => body.end(words));
      return { statusCode: 200, headers: {}, body };
    };
    const { url } = await serve({ invokeStreaming });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = async () => {
      const [incoming] = await once(request(`${url}/mcp`, { method: 'POST', agent }).end(), 'response');
      return text(incoming);
    };
    const answers = await Promise.all(Array.from({ length: 60 }, ask));
    expect(answers).toEqual(answers.map((_, index) => `answer ${index}`));
    agent.destroy();
  });

  test('keeps pace with a slow reader and loses nothing', async () => {
    const body = new PassThrough();
    const { url } = await serve(streamed(body));
    const response = await post(url);
    const size = 8 * 1024 * 1024;
    body.end(Buffer.alloc(size, 'x'));
    await sleep(50);
    expect((await response.arrayBuffer()).byteLength).toBe(size);
  });

  test('fails before it answers', async () => {
    const { url, errors } = await serve({ invokeStreaming: () => Promise.reject(new Error('broken')) });
    const response = await post(url);
    expect([response.status, await response.json()]).toEqual([502, { message: 'Internal server error' }]);
    expect(errors).toEqual([expect.stringContaining('broken')]);
  });

  test('answers with a status or header that HTTP does not allow', async () => {
    const body = new PassThrough();
    const { url } = await serve(streamed(body, { statusCode: 20 }));
    expect((await post(url)).status).toBe(502);
    expect(body.destroyed).toBe(true);
  });

  test('fails in the middle', async () => {
    const body = new PassThrough();
    const { url } = await serve(streamed(body));
    const response = await post(url);
    body.write('half');
    body.destroy(new Error('broken'));
    await expect(response.text()).rejects.toThrow();
  });

  test('is cut when it is silent for too long', async () => {
    const body = new PassThrough();
    const { url, errors } = await serve(streamed(body), { idleMs: 60 });
    const response = await post(url);
    body.write('half');
    await expect(response.text()).rejects.toThrow();
    expect(errors).toEqual(['a stream was cut: it was silent for too long']);
  });

  test('is cut when it takes longer than the integration may', async () => {
    const body = new PassThrough();
    const talking = setInterval(() => body.write('x'), 10);
    const { url, errors } = await serve(streamed(body), {
      routes: [route('/mcp', 'POST', { streaming: true, timeoutMs: 80 })],
    });
    await expect(post(url).then((response) => response.text())).rejects.toThrow();
    clearInterval(talking);
    expect(errors).toEqual(['a stream was cut: it took longer than the integration may']);
  });

  test('is cut and released when its reader stops', async () => {
    const body = new PassThrough();
    const { url, errors } = await serve(streamed(body), {
      routes: [route('/mcp', 'POST', { streaming: true, timeoutMs: 300 })],
    });
    const still = connect(Number(new URL(url).port), '127.0.0.1').pause();
    still.write('POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n');
    let taken = 0;
    const talking = setInterval(() => {
      while (!body.destroyed && body.write(Buffer.alloc(1_000_000))) taken++;
    }, 5);
    await once(body, 'close');
    clearInterval(talking);
    still.destroy();
    // The buffers of a connection, and not the whole stream.
    expect(taken).toBeLessThan(40);
    expect(errors).toEqual(['a stream was cut: it took longer than the integration may']);
  });

  test('is released when the client disconnects', async () => {
    const body = new PassThrough();
    const { url, errors } = await serve(streamed(body));
    const client = new AbortController();
    await post(url, client.signal);
    client.abort();
    await once(body, 'close');
    expect(errors).toEqual([]);
  });

  test('is released when it begins too late', async () => {
    const body = new PassThrough();
    const late = Promise.withResolvers<StreamResult>();
    const routes = [route('/mcp', 'POST', { streaming: true, timeoutMs: 30 })];
    const { url } = await serve({ invokeStreaming: () => late.promise }, { routes });
    expect((await post(url)).status).toBe(504);
    late.resolve({ statusCode: 200, headers: {}, body });
    await once(body, 'close');
  });
});
