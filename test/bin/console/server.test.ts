import { globSync } from 'node:fs';
import { connect as tcp } from 'node:net';
import { relative } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { isGone, keptConnection } from '../../../bin/console/connection.ts';
import { startConsole } from '../../../bin/console/server.ts';
import type { OperatorContext } from '../../../functions/operator/context.ts';
import { NotAllowed, OperatorError } from '../../../functions/operator/errors.ts';
import { KEY, operatorOn, task } from '../../functions/operator/operators.ts';
import { send } from './console.ts';
import { consoleOf } from './in-memory.ts';

const context = operatorOn([task()]).context;
const reach = (host: string, port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = tcp({ host, port, timeout: 5_000 });
    const done = (reached: boolean) => {
      socket.destroy();
      resolve(reached);
    };
    socket.once('connect', () => done(true));
    for (const event of ['error', 'timeout'] as const) socket.once(event, () => done(false));
  });

describe('the console', () => {
  test('listens on 127.0.0.1 and on no other address of this machine', async () => {
    const { port } = await consoleOf(async () => context);
    expect(await reach('127.0.0.1', port)).toBe(true);
    // Each reaches a server that listens on all addresses.
    for (const other of ['127.0.0.2', '::1', '::ffff:127.0.0.3']) expect(await reach(other, port), other).toBe(false);
  });

  test('serves at the port that is asked for, and rejects if that is in use', async () => {
    const first = await consoleOf(async () => context);
    const options = { connect: async () => context, local: true, options: '', port: first.port };
    await expect(startConsole(options)).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await first.stop();
    const second = await startConsole(options);
    expect(new URL(second.url).port).toBe(String(first.port));
    await second.stop();
    expect(await reach('127.0.0.1', first.port)).toBe(false);
  });

  test('has another token each time, and serves nothing without it', async () => {
    const [one, other] = [await consoleOf(async () => context), await consoleOf(async () => context)];
    expect(one.token).not.toBe(other.token);
    for (const path of ['/', `/${other.token}/`, `/${other.token}/api/server`, `/${one.token}x/`]) {
      expect(await send(one.port, path)).toMatchObject({ status: 404, text: expect.stringContaining('has a token') });
    }
    expect((await one.get('')).status).toBe(200);
  });

  test.each([
    ['another name for this machine', { host: 'evil.example' }, 'This host is not served'],
    ['a host without the port', { host: '127.0.0.1' }, 'This host is not served'],
    ['another origin', { origin: 'http://evil.example' }, 'Another origin may not ask'],
    ['the origin of another port', { origin: 'http://127.0.0.1:1' }, 'Another origin may not ask'],
    ['a request of another site', { 'sec-fetch-site': 'same-site' }, 'Another site may not ask'],
  ])('refuses %s', async (_what, headers, error) => {
    const { get } = await consoleOf(async () => context);
    const reply = await get('api/server', headers);
    expect([reply.status, reply.json()]).toEqual([403, { error }]);
  });

  test('answers its own page, by either name', async () => {
    const { get, port } = await consoleOf(async () => context);
    const own = { host: `localhost:${port}`, origin: `http://localhost:${port}`, 'sec-fetch-site': 'same-origin' };
    expect((await get('api/server', own)).status).toBe(200);
  });

  test.each([
    ['the header of the token', { 'x-console-token': undefined }, 'The header x-console-token is missing'],
    ['the right token in it', { 'x-console-token': 'guess' }, 'The header x-console-token is missing'],
    ['its origin', { origin: undefined }, 'The Origin header is missing'],
    ['a JSON body', { 'content-type': 'text/plain' }, 'The body has to be JSON'],
    ['a type of its body', { 'content-type': undefined }, 'The body has to be JSON'],
  ])('an act needs %s', async (_what, headers, error) => {
    const server = operatorOn([task()]);
    const { post } = await consoleOf(async () => server.context);
    const reply = await post('cancel', { id: KEY.taskId, owner: KEY.owner }, headers);
    expect([reply.status, reply.json(), server.did]).toEqual([403, { error }, []]);
  });

  test('an act is a POST, a read is a GET, and all else is not there', async () => {
    const { get, post, port, token } = await consoleOf(async () => context);
    expect(await get('api/cancel')).toMatchObject({ status: 404, text: expect.stringContaining('no such route') });
    expect((await post('server', {})).status).toBe(404);
    expect((await get('api/constructor')).status).toBe(404);
    expect((await post('constructor', {})).status).toBe(404);
    expect(await get('nope.js')).toMatchObject({ status: 404, text: expect.stringContaining('no such file') });
    for (const path of ['x/api/server', 'api/server/x']) expect((await get(path)).status, path).toBe(404);
    const posted = await send(port, `/${token}/`, { method: 'POST' });
    expect(posted).toMatchObject({ status: 405, text: '{"error":"Only GET"}' });
  });

  test('a body of more than 300,000 bytes, or without an object, changes nothing', async () => {
    const server = operatorOn([task()]);
    const { post } = await consoleOf(async () => server.context);
    const padded = (bytes: number) => {
      const body = { id: KEY.taskId, owner: KEY.owner, padding: '' };
      return { ...body, padding: 'x'.repeat(bytes - JSON.stringify(body).length) };
    };
    const error = 'The body has to be a JSON object of at most 300000 bytes';
    for (const body of [padded(300_001), [], undefined]) {
      const reply = await post('cancel', body);
      expect([reply.status, reply.json()]).toEqual([400, { error }]);
    }
    expect(server.did).toEqual([]);
    const type = { 'content-type': 'application/json; charset=utf-8' };
    expect((await post('cancel', padded(300_000), type)).status).toBe(200);
  });

  test('every file of the page is served, and no other file beside them', async () => {
    const { get } = await consoleOf(async () => context);
    const files = globSync('bin/console/page/**/*.{html,css,js,svg}').map((file) => relative('bin/console/page', file));
    expect(files.length).toBeGreaterThan(10);
    for (const file of [...files, 'lit-html.js']) expect((await get(file)).status, file).toBe(200);
    for (const file of ['tsconfig.json', 'lit-html.d.ts', '../index.ts', '..%2findex.ts']) {
      expect((await get(file)).status, file).toBe(404);
    }
  });

  test('every answer has its type, its length, and the headers that keep others away', async () => {
    const { get } = await consoleOf(async () => context);
    for (const [path, type] of [
      ['', 'text/html; charset=utf-8'],
      ['api/server', 'application/json'],
      ['x', 'application/json'],
      ['../index.ts', 'application/json'],
      ['..%2findex.ts', 'application/json'],
    ]) {
      const { headers, text } = await get(path as string);
      expect(headers).toMatchObject({
        ...{ 'content-type': type, 'content-length': String(Buffer.byteLength(text)), 'cache-control': 'no-store' },
        ...{ 'referrer-policy': 'no-referrer', 'x-content-type-options': 'nosniff' },
        ...{ 'cross-origin-opener-policy': 'same-origin', 'cross-origin-resource-policy': 'same-origin' },
        'content-security-policy':
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      });
    }
  });
});

describe('an error of a route', () => {
  const failing = (error: unknown) => {
    const connect = vi.fn(async () => ({ ...context, server: { ...context.server, tools: failingMap(error) } }));
    return { connect, reply: async () => (await consoleOf(connect)).get('api/server') };
  };
  const failingMap = (error: unknown) =>
    ({
      [Symbol.iterator]() {
        throw error;
      },
    }) as unknown as OperatorContext['server']['tools'];
  const named = (name: string, message = '') => Object.assign(new Error(message), { name });

  test.each([
    [new NotAllowed('Not done', 'act', 'do it'), 403, 'Not done: your credentials may not do it'],
    [new OperatorError('mend it'), 400, 'mend it'],
    [named('AccessDeniedException', 'no'), 403, 'AWS refused: your credentials may not do that (no)'],
    [named('ThrottlingException', 'slow'), 500, 'ThrottlingException: slow'],
    [named('TimeoutError'), 503, 'The server does not answer'],
    [named('IndexBackfilling'), 503, 'The index of tasks by status is being built'],
    [Object.assign(new Error(), { code: 'ECONNREFUSED' }), 503, 'The server does not answer'],
  ])('%s has its status and a sentence', async (error, status, sentence) => {
    const reply = await failing(error).reply();
    expect([reply.status, reply.json().error.startsWith(sentence)]).toEqual([status, true]);
  });

  test('of AWS drops the connection, one that the operator can mend does not', async () => {
    for (const [error, times] of [
      [named('ThrottlingException'), 2],
      [new OperatorError('no'), 1],
      [named('AccessDenied'), 1],
    ] as const) {
      const { connect } = failing(error);
      const { get } = await consoleOf(connect);
      for (let i = 0; i < 2; i++) await get('api/server');
      expect(connect).toHaveBeenCalledTimes(times);
    }
  });
});

describe('the connection of a page', () => {
  test('is kept for a while, made again after it, after a failure and after it was dropped', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const connect = vi.fn(async () => context);
    const { get, drop } = keptConnection(connect, 5_000);
    const times = async (advance = 0) => {
      vi.setSystemTime(Date.now() + advance);
      await get().catch(() => {});
      return connect.mock.calls.length;
    };
    expect(await times()).toBe(1);
    expect(await times(5_000)).toBe(1);
    expect(await times(1)).toBe(2);
    drop();
    expect(await times()).toBe(3);
    connect.mockRejectedValueOnce(new Error('no'));
    expect(await times(5_001)).toBe(4);
    expect(await times()).toBe(5);
    vi.useRealTimers();
  });

  test('that fails late does not take away the one that was made after it', async () => {
    const first = Promise.withResolvers<OperatorContext>();
    const connect = vi.fn(async () => context).mockReturnValueOnce(first.promise);
    const { get, drop } = keptConnection(connect, 60_000);
    const waits = expect(get()).rejects.toThrow('late');
    drop();
    await get();
    first.reject(new Error('late'));
    await waits;
    await get();
    expect(connect).toHaveBeenCalledTimes(2);
  });

  test.each([
    [{ code: 'ECONNRESET' }, true],
    [{ code: 'EPIPE' }, true],
    [{ code: 'ENOTFOUND' }, true],
    [{ name: 'TimeoutError' }, true],
    [{ name: 'Error', code: 'EACCES' }, false],
    [{}, false],
  ])('an endpoint that is gone is known by its error: %j, %s', (error, gone) => {
    expect(isGone(error)).toBe(gone);
  });
});
