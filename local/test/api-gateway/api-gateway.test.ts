import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { PassThrough, type Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { startApiGateway } from '../../api-gateway/index.ts';
import { type Api, type FunctionRoute, matchRoute } from '../../api-gateway/routes.ts';
import { AwsError } from '../../aws-error.ts';
import { noFaults } from '../../faults/index.ts';
import type { Iam } from '../../iam/index.ts';
import type { InvokeResult, Lambda, StreamResult } from '../../lambda/index.ts';

type FakeLambda = Partial<Pick<Lambda, 'invoke' | 'invokeStreaming'>>;

const route = (resource: string, method = 'ANY', more: Partial<FunctionRoute> = {}): FunctionRoute => ({
  resource,
  method,
  functionArn: `arn:${method}:${resource}`,
  streaming: false,
  timeoutMs: 29_000,
  ...more,
});
const API: Api = {
  id: 'abc',
  region: 'eu-west-1',
  account: '000000000000',
  stage: 'v1',
  stageVariables: null,
  responses: new Map(),
  idleMs: 300_000,
  routes: [route('/mcp', 'POST', { streaming: true }), route('/plain/{proxy+}')],
};

let stop: (() => Promise<void>) | undefined;
afterEach(() => stop?.());

async function serve(
  lambda: FakeLambda,
  api: Partial<Api> = {},
  may?: Iam['mayService'],
): Promise<{ url: string; errors: string[] }> {
  const errors: string[] = [];
  const unused = () => Promise.reject(new Error('not expected'));
  const gateway = await startApiGateway({
    api: { ...API, ...api },
    lambda: { invoke: unused, invokeStreaming: unused, ...lambda },
    bench: noFaults,
    ...(may && { iam: { mayService: may } }),
    port: 0,
    now: () => Date.UTC(2026, 3, 9, 12, 34, 56),
    onError: (message: string) => errors.push(message),
  });
  stop = gateway.stop;
  return { url: gateway.url, errors };
}

const result = (answer: unknown, more: Partial<InvokeResult> = {}): InvokeResult => ({
  statusCode: 200,
  executedVersion: '$LATEST',
  payload: JSON.stringify(answer),
  ...more,
});
const buffered = (answer: unknown, more?: Partial<InvokeResult>): FakeLambda => ({
  invoke: async () => result(answer, more),
});
const streamed = (body: Readable, more: Partial<StreamResult> = {}): FakeLambda => ({
  invokeStreaming: async () => ({ statusCode: 200, headers: {}, body, ...more }),
});

describe('routes', () => {
  const routes = ['/', '/a', '/a/{x}', '/a/{x}/b', '/a/lit', '/{proxy+}'].map((path) => route(path));
  const CASES: [path: string, resource: string, parameters: object | null][] = [
    ['/', '/', null],
    ['/a', '/a', null],
    ['/a/lit', '/a/lit', null],
    ['/a/1', '/a/{x}', { x: '1' }],
    ['/a/%C3%A4%20', '/a/{x}', { x: 'ä ' }],
    ['/a/1/b', '/a/{x}/b', { x: '1' }],
    ['/a/1/c', '/{proxy+}', { proxy: 'a/1/c' }],
    ['/a/lit/b', '/a/{x}/b', { x: 'lit' }],
  ];
  test.each(CASES)('%s', (path, resource, pathParameters) => {
    const match = matchRoute(routes, 'GET', path);
    expect([match?.route.resource, match?.pathParameters]).toEqual([resource, pathParameters]);
  });

  test('one method wins over ANY, and a resource without the method does not match', () => {
    const some = [route('/a'), route('/a', 'GET'), route('/b', 'GET'), route('/{proxy+}')];
    expect(matchRoute(some, 'GET', '/a')?.route.method).toBe('GET');
    expect(matchRoute(some, 'PUT', '/a')?.route.method).toBe('ANY');
    expect(matchRoute(some, 'PUT', '/b')).toBeUndefined();
  });
});

describe('the front door refuses', () => {
  test.each([
    ['POST', '//mcp/other'],
    ['POST', '/other'],
    ['GET', '/mcp'],
  ])('%s %s, which it does not have', async (method, path) => {
    const { url } = await serve({});
    const response = await fetch(url + path, { method });
    expect(response.status).toBe(403);
    expect(response.headers.get('x-amzn-errortype')).toBe('MissingAuthenticationTokenException');
    expect(await response.json()).toEqual({ message: 'Missing Authentication Token' });
  });

  test.each([
    ['evil.example', 403],
    ['localhost.evil.example:80', 403],
    ['127.0.0.1.nip.io', 403],
    ['localhost', 200],
    ['LOCALHOST:3000', 200],
    ['[::1]:3000', 200],
    ['127.0.0.1', 200],
  ])('or not, by the Host: %s', async (host, status) => {
    const { url } = await serve(buffered({ statusCode: 200 }));
    const call = request(`${url}/plain/x`, { headers: { host } }).end();
    const [response] = await once(call, 'response');
    expect(response.statusCode).toBe(status);
    response.resume();
  });

  test('what the function has not permitted it to ask for', async () => {
    const asked: unknown[] = [];
    const { url, errors } = await serve({}, {}, (...call) => asked.push(call) === 0);
    const answer = await fetch(`${url}/plain/x`, { method: 'POST' });
    expect([answer.status, await answer.json()]).toEqual([500, { message: 'Internal server error' }]);
    const source = 'arn:aws:execute-api:eu-west-1:000000000000:abc/v1/POST/plain/{proxy+}';
    expect(asked).toEqual([['apigateway.amazonaws.com', 'lambda:InvokeFunction', 'arn:ANY:/plain/{proxy+}', source]]);
    expect(errors).toEqual(['API Gateway may not invoke the function of POST /plain/{proxy+}']);
  });

  test('more than 10 MB', async () => {
    const { url } = await serve(buffered({ statusCode: 200 }));
    const post = (length: number) => fetch(`${url}/plain/x`, { method: 'POST', body: Buffer.alloc(length, 'x') });
    expect((await post(10 * 1024 * 1024)).status).toBe(200);
    const tooLong = await post(10 * 1024 * 1024 + 1);
    expect([tooLong.status, await tooLong.json()]).toEqual([413, { message: 'Request Too Long' }]);
  });

  test('in the words of the template', async () => {
    const headers = { 'WWW-Authenticate': 'Bearer' };
    const template = '{"type":"$context.error.responseType","error":$context.error.messageString}';
    const { url } = await serve({}, { responses: new Map([['DEFAULT_4XX', { status: 401, headers, template }]]) });
    const response = await fetch(`${url}/nothing`);
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    const type = 'MISSING_AUTHENTICATION_TOKEN';
    expect(await response.json()).toEqual({ type, error: 'Missing Authentication Token' });
  });
});

describe('a buffered integration', () => {
  const FAILURES: [name: string, lambda: FakeLambda, status: number, message: string][] = [
    ['that throws', buffered({ errorType: 'Error' }, { functionError: 'Unhandled' }), 502, 'Internal server error'],
    ['that answers with no object', buffered('hello'), 502, 'Internal server error'],
    [
      'with a header HTTP does not know',
      buffered({ statusCode: 200, headers: { 'a b': 'x' } }),
      502,
      'Internal server error',
    ],
    ['without a status', buffered({ body: 'x' }), 502, 'Internal server error'],
    [
      'that is throttled',
      { invoke: () => Promise.reject(new AwsError('TooManyRequestsException', 'Rate Exceeded.', 429)) },
      500,
      'Internal server error',
    ],
    [
      'whose event is too large',
      { invoke: () => Promise.reject(new AwsError('RequestTooLargeException', 'too large', 413)) },
      413,
      'Request Too Long',
    ],
  ];
  test.each(FAILURES)('%s', async (_name, lambda, status, message) => {
    const { url } = await serve(lambda);
    const response = await fetch(`${url}/plain/x`);
    expect([response.status, await response.json()]).toEqual([status, { message }]);
  });

  test('that takes too long', async () => {
    const slow: FakeLambda = { invoke: () => sleep(5_000, result({ statusCode: 200 }), { ref: false }) };
    const { url } = await serve(slow, { routes: [route('/plain/{proxy+}', 'ANY', { timeoutMs: 50 })] });
    const response = await fetch(`${url}/plain/x`);
    expect([response.status, await response.json()]).toEqual([504, { message: 'Endpoint request timed out' }]);
  });

  test('answers with status, headers and body', async () => {
    const answer = {
      statusCode: 201,
      body: 'ä',
      headers: { 'X-One': 1, 'WWW-Authenticate': 'Bearer', Connection: 'close' },
      multiValueHeaders: { 'set-cookie': ['a=1', 'b=2'] },
    };
    const { url } = await serve(buffered(answer));
    const response = await fetch(`${url}/plain/x`);
    expect([response.status, await response.text()]).toEqual([201, 'ä']);
    expect(response.headers.get('x-one')).toBe('1');
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(response.headers.get('x-amzn-requestid')).toMatch(/^[\da-f-]{36}$/);
    // The header by which an OAuth client finds its server is lost in this way on AWS.
    expect(response.headers.get('www-authenticate')).toBeNull();
    expect(response.headers.get('x-amzn-remapped-www-authenticate')).toBe('Bearer');
  });

  test('gets the event of API Gateway', async () => {
    let seen: [name: string, event: Record<string, unknown>] | undefined;
    const { url } = await serve({
      invoke: async (name, payload) => {
        seen = [name, JSON.parse(payload) as Record<string, unknown>];
        return result({ statusCode: 204 });
      },
    });
    const call = request(`${url}/plain/a/b?x=1&x=2&y=%C3%A4`, {
      method: 'PUT',
      headers: ['Host', 'localhost:1234', 'X-MiXed', 'one', 'x-mixed', 'two', 'User-Agent', 'me'],
    }).end('{"ä":1}');
    await once(call, 'response');
    const [name, event] = seen ?? [];
    expect(name).toBe('arn:ANY:/plain/{proxy+}');
    expect(event).toMatchObject({
      resource: '/plain/{proxy+}',
      path: '/plain/a/b',
      httpMethod: 'PUT',
      pathParameters: { proxy: 'a/b' },
      headers: { Host: 'localhost:1234', 'X-MiXed': 'two', 'X-Forwarded-Proto': 'http' },
      multiValueHeaders: { 'X-MiXed': ['one', 'two'] },
      queryStringParameters: { x: '2', y: 'ä' },
      multiValueQueryStringParameters: { x: ['1', '2'], y: ['ä'] },
      stageVariables: null,
      body: '{"ä":1}',
      isBase64Encoded: false,
      requestContext: {
        accountId: '000000000000',
        apiId: 'abc',
        stage: 'v1',
        path: '/plain/a/b',
        httpMethod: 'PUT',
        protocol: 'HTTP/1.1',
        domainName: 'localhost',
        identity: { sourceIp: '127.0.0.1', userAgent: 'me' },
        requestTime: '09/Apr/2026:12:34:56 +0000',
        requestTimeEpoch: Date.UTC(2026, 3, 9, 12, 34, 56),
      },
    });
  });
});

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

  test('answers with what HTTP does not know', async () => {
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

  test('is cut, and let go, when its reader stands still', async () => {
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
    // What the machine keeps for a connection, and not what was there to be sent.
    expect(taken).toBeLessThan(40);
    expect(errors).toEqual(['a stream was cut: it took longer than the integration may']);
  });

  test('is let go when the client leaves', async () => {
    const body = new PassThrough();
    const { url, errors } = await serve(streamed(body));
    const client = new AbortController();
    await post(url, client.signal);
    client.abort();
    await once(body, 'close');
    expect(errors).toEqual([]);
  });

  test('is let go when it begins too late', async () => {
    const body = new PassThrough();
    const late = Promise.withResolvers<StreamResult>();
    const routes = [route('/mcp', 'POST', { streaming: true, timeoutMs: 30 })];
    const { url } = await serve({ invokeStreaming: () => late.promise }, { routes });
    expect((await post(url)).status).toBe(504);
    late.resolve({ statusCode: 200, headers: {}, body });
    await once(body, 'close');
  });
});
