import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { matchRoute, parametersIn } from '../../api-gateway/routes.ts';
import { AwsError } from '../../aws-error.ts';
import { buffered, type FakeLambda, result, route, serve } from './gateway.ts';

describe('routes', () => {
  test.each(['/a/lit', '/a/lit/', '//a//lit'])('%s', (path) => {
    expect(matchRoute([route('/'), route('/a'), route('/a/lit')], 'GET', path)?.resource).toBe('/a/lit');
  });

  test('one method wins over ANY, and a resource without the method does not match', () => {
    const some = [route('/a'), route('/a', 'GET'), route('/b', 'GET')];
    expect(matchRoute(some, 'GET', '/a')?.method).toBe('GET');
    expect(matchRoute(some, 'PUT', '/a')?.method).toBe('ANY');
    expect(matchRoute(some, 'PUT', '/b')).toBeUndefined();
  });

  test('a path with parameters takes one segment for each; a literal path wins over it', () => {
    const some = [route('/a/{x}/{y}'), route('/a/b/c')];
    expect(matchRoute(some, 'GET', '/a/b/c')?.resource).toBe('/a/b/c');
    expect(matchRoute(some, 'GET', '/a/b/d')?.resource).toBe('/a/{x}/{y}');
    for (const other of ['/a/b', '/a/b/c/d', '/b/b/d']) expect(matchRoute(some, 'GET', other)).toBeUndefined();
    expect(parametersIn('/a/{x}/{y}', '/a/b%20c/%zz')).toEqual({ x: 'b c', y: '%zz' });
  });
});

describe('the API refuses', () => {
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
  ])('a Host of another site, not a loopback name: %s', async (host, status) => {
    const { url } = await serve(buffered({ statusCode: 200 }));
    const call = request(`${url}/plain/x`, { headers: { host } }).end();
    const [response] = await once(call, 'response');
    expect(response.statusCode).toBe(status);
    response.resume();
  });

  test('a call of a function that has not permitted it', async () => {
    const asked: unknown[] = [];
    const { url, errors } = await serve({}, {}, (...call) => asked.push(call) === 0);
    const answer = await fetch(`${url}/plain/x`, { method: 'POST' });
    expect([answer.status, await answer.json()]).toEqual([500, { message: 'Internal server error' }]);
    const source = 'arn:aws:execute-api:eu-west-1:000000000000:abc/v1/POST/plain/x';
    expect(asked).toEqual([['apigateway.amazonaws.com', 'lambda:InvokeFunction', 'arn:ANY:/plain/x', source]]);
    expect(errors).toEqual(['API Gateway may not invoke the function of POST /plain/x']);
  });

  test('more than 10 MB', async () => {
    const { url } = await serve(buffered({ statusCode: 200 }));
    const post = (length: number) => fetch(`${url}/plain/x`, { method: 'POST', body: Buffer.alloc(length, 'x') });
    expect((await post(10 * 1024 * 1024)).status).toBe(200);
    const tooLong = await post(10 * 1024 * 1024 + 1);
    expect([tooLong.status, await tooLong.json()]).toEqual([413, { message: 'Request Too Long' }]);
  });

  test('with the texts of the template', async () => {
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
    ['whose answer is not an object', buffered('hello'), 502, 'Internal server error'],
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
    const { url } = await serve(slow, { routes: [route('/plain/x', 'ANY', { timeoutMs: 50 })] });
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
    const call = request(`${url}/plain/x?x=1&x=2&y=%C3%A4`, {
      method: 'PUT',
      headers: ['Host', 'localhost:1234', 'X-MiXed', 'one', 'x-mixed', 'two', 'User-Agent', 'me'],
    }).end('{"ä":1}');
    await once(call, 'response');
    const [name, event] = seen ?? [];
    expect(name).toBe('arn:ANY:/plain/x');
    expect(event).toMatchObject({
      resource: '/plain/x',
      path: '/plain/x',
      httpMethod: 'PUT',
      pathParameters: null,
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
        path: '/plain/x',
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
