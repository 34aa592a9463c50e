import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  objectKey,
  ResultStoreError,
  type ResultStoreOptions,
  resultStore,
} from '../../../../functions/tasks/results/result-store.ts';

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Answers each request as the next of these says, the last one again and again. */
let answers: ((response: ServerResponse) => void)[];
let seen: Seen[];
const server = createServer(async (request, response) => {
  const { method = '', url = '', headers } = request;
  seen.push({ method, url, headers, body: await buffer(request) });
  (answers.length > 1 ? answers.shift() : answers[0])?.(response);
});
let endpoint: string;
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  answers = [ok()];
  seen = [];
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKID');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  vi.stubEnv('AWS_SESSION_TOKEN', 'session');
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const ok =
  (text = '') =>
  (response: ServerResponse) =>
    void response.end(text);
const refuse = (status: number, code: string) => (response: ServerResponse) => {
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>for my-bucket</Message></Error>`);
};
const hangUp = (response: ServerResponse) => void response.destroy();

const key = { owner: 'task#1', taskId: 't1', round: 2 };
const store = (more: Partial<ResultStoreOptions> = {}) =>
  resultStore({ bucket: 'my-bucket', region: 'eu-west-1', endpoint, ...more });
const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');

describe('a request', () => {
  test('PUT: bytes, hash and length, at a key made from the task, signed for S3', async () => {
    await store().put(key, '{"text":"größer"}');
    const [request] = seen as [Seen];
    const body = Buffer.from('{"text":"größer"}');
    expect(request).toMatchObject({
      method: 'PUT',
      url: `/my-bucket/results/${sha256('task#1')}/t1-r2?x-id=PutObject`,
      headers: {
        'content-length': String(body.length),
        'content-type': 'application/json',
        'x-amz-content-sha256': sha256(body),
        'x-amz-security-token': 'session',
      },
      body,
    });
    expect(request.headers.authorization).toMatch(/Credential=AKID\/\d{8}\/eu-west-1\/s3\/aws4_request,/);
  });

  test('GET: the very text that was put', async () => {
    const text = JSON.stringify({ text: 'größer 𝄞 \u2028 "', n: '9007199254740993' });
    answers = [ok(text)];
    expect(await store().get(key)).toBe(text);
    expect(seen).toMatchObject([{ method: 'GET', url: `/my-bucket/results/${sha256('task#1')}/t1-r2?x-id=GetObject` }]);
  });

  test('without an endpoint setting it goes to S3, with the bucket in the host name', async () => {
    const handle = vi.spyOn(NodeHttpHandler.prototype, 'handle').mockRejectedValue(new Error('offline'));
    await expect(resultStore({ bucket: 'my-bucket', region: 'eu-west-1' }).get(key)).rejects.toThrow(ResultStoreError);
    expect(handle.mock.calls[0]?.[0]).toMatchObject({
      protocol: 'https:',
      hostname: 'my-bucket.s3.eu-west-1.amazonaws.com',
      path: `/results/${sha256('task#1')}/t1-r2`,
    });
  });

  test('AWS_ENDPOINT_URL_S3 goes before AWS_ENDPOINT_URL; it is signed for AWS_REGION', async () => {
    vi.stubEnv('AWS_ENDPOINT_URL', 'http://127.0.0.1:1');
    vi.stubEnv('AWS_ENDPOINT_URL_S3', endpoint);
    vi.stubEnv('AWS_REGION', 'eu-west-1');
    await resultStore({ bucket: 'my-bucket' }).put(key, '1');
    expect(seen).toHaveLength(1);
    expect(seen[0]?.headers.authorization).toContain('/eu-west-1/s3/aws4_request,');
  });
});

test('no two owners, tasks, rounds or tries share a key (C-28, E-15)', () => {
  const others = [{ owner: 'task#2' }, { taskId: 't2' }, { round: 3 }, { attempt: 1 }, { attempt: 2 }];
  const keys = others.map((other) => objectKey({ ...key, ...other }));
  expect(new Set([objectKey(key), ...keys]).size).toBe(6);
  expect(objectKey({ ...key, attempt: 0 })).toBe(objectKey(key));
});

describe('what may pass is tried again, three times in all', () => {
  test.each([
    ['SlowDown', refuse(503, 'SlowDown')],
    ['an internal error', refuse(500, 'InternalError')],
    ['too many requests', refuse(429, 'TooManyRequests')],
    ['a slow upload', refuse(400, 'RequestTimeout')],
    ['a connection that breaks', hangUp],
    [
      'an answer that breaks off',
      (response: ServerResponse) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('"half');
        setTimeout(() => response.destroy(), 20);
      },
    ],
  ])('%s', async (_name, fault) => {
    answers = [fault, fault, ok('"whole"')];
    expect(await store().get(key)).toBe('"whole"');
    expect(seen).toHaveLength(3);
    answers = [fault];
    await expect(store().get(key)).rejects.toThrow(ResultStoreError);
    expect(seen).toHaveLength(6);
  });

  test('a PUT sends its body again', async () => {
    answers = [hangUp, ok()];
    await store().put(key, '"again"');
    expect(seen.map(({ body }) => body.toString())).toEqual(['"again"', '"again"']);
  });

  test('a refusal is final', async () => {
    for (const [status, code] of [
      [403, 'AccessDenied'],
      [404, 'NoSuchKey'],
      [300, 'TemporaryRedirect'],
      [301, 'PermanentRedirect'],
    ] as const) {
      answers = [refuse(status, code)];
      await expect(store().get(key)).rejects.toMatchObject({ code });
    }
    expect(seen).toHaveLength(4);
  });

  test('all of it ends within the timeout, however long S3 is silent', async () => {
    answers = [() => {}];
    await expect(store({ timeout: 200 }).put(key, '1')).rejects.toMatchObject({ code: 'TimeoutError' });
    // Without a bound of all, it would try again after the five seconds of one request. A slow machine has sent none by then.
    expect(seen.length).toBeLessThanOrEqual(1);
  });

  test('also in the middle of an answer', async () => {
    answers = [
      (response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('"half');
      },
    ];
    await expect(store({ timeout: 200 }).get(key)).rejects.toMatchObject({ code: 'TimeoutError' });
  });
});

test('an error says what failed and why, and names no bucket, key or address (A-15)', async () => {
  const errors = [];
  answers = [refuse(403, 'AccessDenied')];
  errors.push(await store().put(key, '1').catch(String));
  answers = [(response) => void response.writeHead(502).end('<html>')];
  errors.push(await store().get(key).catch(String));
  errors.push(await store({ endpoint: 'http://127.0.0.1:1' }).get(key).catch(String));
  expect(errors).toEqual([
    'ResultStoreError: The result could not be stored: AccessDenied',
    'ResultStoreError: The result could not be read: status 502',
    'ResultStoreError: The result could not be read: ECONNREFUSED',
  ]);
});
