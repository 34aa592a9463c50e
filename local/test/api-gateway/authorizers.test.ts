import { describe, expect, test } from 'vitest';
import type { Authorizer } from '../../api-gateway/authorizers.ts';
import { readGatewayResponse } from '../../api-gateway/gateway-responses.ts';
import { readMock } from '../../api-gateway/mock.ts';
import type { Api, Route } from '../../api-gateway/routes.ts';
import { throttled } from '../../lambda/errors.ts';
import type { Resource } from '../../template/resources.ts';
import { result, serve as serveApi } from './gateway.ts';

const ARN = 'arn:aws:execute-api:eu-west-1:000000000000:abc/v1/GET/things/one';
const cached: Authorizer = { id: 'a1', functionArn: 'authorizer', identity: ['authorization'], ttlMs: 60_000 };
const proxy = { functionArn: 'function', streaming: false, timeoutMs: 29_000 };
const routes: Route[] = [
  { resource: '/things/one', method: 'ANY', authorization: cached, ...proxy },
  { resource: '/things/two', method: 'ANY', authorization: cached, ...proxy },
  { resource: '/fresh', method: 'ANY', authorization: { ...cached, ttlMs: 0 }, ...proxy },
  { resource: '/signed', method: 'ANY', authorization: 'AWS_IAM', ...proxy },
  { resource: '/mock', method: 'GET', mock: { status: 203, headers: { 'x-a': 'b' }, body: '{"a":1}' } },
];
const responses: Api['responses'] = new Map([
  ['UNAUTHORIZED', { headers: { 'WWW-Authenticate': 'Bearer' } }],
  ['ACCESS_DENIED', { headers: { 'WWW-Authenticate': 'Bearer error="x"' } }],
]);

const statement = (Effect: string, Resource: string | string[]) => ({ Effect, Action: 'execute-api:Invoke', Resource });
const policy = (...Statement: object[]) => ({
  principalId: 'me',
  policyDocument: { Version: '2012-10-17', Statement },
  context: { scope: 'a b', level: 3 },
});

/** A gateway whose authorizer gives this answer. Returns the events that both functions got. */
async function serve(answer: unknown, functionError?: 'Unhandled') {
  const asked: Record<string, unknown>[] = [];
  const events: { requestContext: { authorizer?: object; identity: object } }[] = [];
  const clock = { now: 0 };
  const { url } = await serveApi(
    {
      async invoke(name, payload) {
        if (name === 'function') {
          events.push(JSON.parse(payload));
          return result({ statusCode: 200, body: 'ok' });
        }
        if (answer instanceof Error) throw answer;
        asked.push(JSON.parse(payload));
        return { ...result(answer), ...(functionError && { functionError }) };
      },
    },
    { responses, routes },
    undefined,
    () => clock.now,
  );
  const get = async (path: string, authorization?: string) => {
    const response = await fetch(url + path, { headers: authorization ? { authorization } : {} });
    return {
      status: response.status,
      challenge: response.headers.get('www-authenticate'),
      body: await response.text(),
    };
  };
  return { get, asked, events, clock };
}

describe('a Lambda authorizer', () => {
  test('that Lambda throttles is a failure: 500', async () => {
    const { get, events } = await serve(throttled());
    expect(await get('/things/one', 'me')).toMatchObject({ status: 500, body: '{"message":"Internal server error"}' });
    expect(events).toEqual([]);
  });

  test('is not invoked without the header that identifies callers', async () => {
    const { get, asked } = await serve(policy(statement('Allow', '*')));
    expect(await get('/things/one')).toEqual({ status: 401, challenge: 'Bearer', body: '{"message":"Unauthorized"}' });
    expect(asked).toEqual([]);
  });

  test('gets the request without its body, and passes its context to the function', async () => {
    const { get, asked, events } = await serve(policy(statement('Allow', ARN)));
    expect(await get('/things/one?x=1', 'Bearer t')).toMatchObject({ status: 200, body: 'ok' });
    expect(asked).toMatchObject([
      {
        type: 'REQUEST',
        methodArn: ARN,
        resource: '/things/one',
        path: '/things/one',
        httpMethod: 'GET',
        queryStringParameters: { x: '1' },
        headers: { authorization: 'Bearer t' },
      },
    ]);
    expect(asked[0]).not.toHaveProperty('body');
    expect(events[0]?.requestContext.authorizer).toEqual({
      principalId: 'me',
      scope: 'a b',
      level: '3',
      integrationLatency: 0,
    });
  });

  const ALL = 'arn:aws:execute-api:eu-west-1:*:abc/v1/*';
  const EXPLICIT = '{"message":"User is not authorized to access this resource with an explicit deny"}';
  const IMPLICIT = '{"message":"User is not authorized to access this resource"}';
  test.each([
    ['everything', [statement('Allow', '*')], 200, 'ok'],
    ['by pattern', [statement('Allow', ALL)], 200, 'ok'],
    ['one of several', [statement('Allow', ['x', ARN.replace('one', 'o?e')])], 200, 'ok'],
    ['another path', [statement('Allow', ARN.replace('one', 'two'))], 403, IMPLICIT],
    ['only its beginning', [statement('Allow', ARN.slice(0, -1))], 403, IMPLICIT],
    ['another action', [{ ...statement('Allow', '*'), Action: 's3:GetObject' }], 403, IMPLICIT],
    ['denied', [statement('Deny', ARN)], 403, EXPLICIT],
    ['allowed and denied', [statement('Allow', '*'), statement('Deny', ALL)], 403, EXPLICIT],
  ])('its policy is judged: %s', async (_title, statements, status, body) => {
    const { get } = await serve(policy(...statements));
    const challenge = status === 403 ? 'Bearer error="x"' : null;
    expect(await get('/things/one', 'Bearer t')).toEqual({ status, challenge, body });
  });

  test('is called again for another identity or a stale answer; a cached policy is judged again', async () => {
    const { get, asked, clock } = await serve(policy(statement('Allow', ARN)));
    expect((await get('/things/one', 'Bearer a')).status).toBe(200);
    expect((await get('/things/one', 'Bearer a')).status).toBe(200);
    expect((await get('/things/two', 'Bearer a')).status).toBe(403);
    expect(asked).toHaveLength(1);
    await get('/things/one', 'Bearer b');
    expect(asked).toHaveLength(2);
    clock.now = 60_000;
    await get('/things/one', 'Bearer a');
    expect(asked).toHaveLength(3);
  });

  test('without a ttl it is invoked every time', async () => {
    const { get, asked } = await serve(policy(statement('Allow', '*')));
    for (const _ of [1, 2]) await get('/fresh', 'Bearer a');
    expect(asked).toHaveLength(2);
  });

  const FAILED = '{"message":"Internal server error"}';
  const FAILURES: [string, unknown, 'Unhandled' | undefined, number, string][] = [
    ['says Unauthorized', { errorMessage: 'Unauthorized' }, 'Unhandled', 401, '{"message":"Unauthorized"}'],
    ['throws anything else', { errorMessage: 'unauthorized!' }, 'Unhandled', 500, FAILED],
    ['returns no policy', { principalId: 'me' }, undefined, 500, FAILED],
    ['sets a condition', policy({ ...statement('Allow', '*'), Condition: {} }), undefined, 500, FAILED],
    ['has objects in its context', { ...policy(statement('Allow', '*')), context: { a: {} } }, undefined, 500, FAILED],
  ];
  test.each(FAILURES)('that %s', async (_title, answer, functionError, status, body) => {
    const { get, asked } = await serve(answer, functionError);
    for (const _ of [1, 2]) expect(await get('/things/one', 'Bearer t')).toMatchObject({ status, body });
    // A failure is not cached.
    expect(asked).toHaveLength(2);
  });
});

test('AWS_IAM: the function gets the signer; an unsigned request is refused', async () => {
  const { get, events } = await serve({});
  const refused = { status: 403, challenge: null, body: '{"message":"Missing Authentication Token"}' };
  expect(await get('/signed')).toEqual(refused);
  expect(await get('/signed', 'Bearer t')).toEqual(refused);
  const signature = 'AWS4-HMAC-SHA256 Credential=ann/20260409/eu-west-1/execute-api/aws4_request, Signature=0';
  expect(await get('/signed', signature)).toMatchObject({ status: 200 });
  const userArn = 'arn:aws:iam::000000000000:user/ann';
  expect(events[0]?.requestContext.identity).toMatchObject({ accessKey: 'ann', caller: 'ann', user: 'ann', userArn });
});

test('a mock answers by itself', async () => {
  const { get } = await serve({});
  expect(await get('/mock')).toEqual({ status: 203, challenge: null, body: '{"a":1}' });
});

const resource = (type: string, properties: Resource['properties']): Resource => ({
  type,
  properties,
  where: '(here)',
  ref: 'r',
  arn: undefined,
  stack: 'S',
  logicalId: 'L',
  name: 'n',
  region: 'r',
  account: 'a',
});

describe('answers that a template may have', () => {
  const mock = (answer: object, request = '{ "statusCode": 200 }') =>
    resource('AWS::ApiGateway::Method', {
      Integration: { RequestTemplates: { 'application/json': request }, IntegrationResponses: [answer] },
      MethodResponses: [{ StatusCode: '200', ResponseParameters: { 'method.response.header.A': true } }],
    });

  test('a mock', () => {
    const answer = {
      StatusCode: '200',
      ResponseParameters: { 'method.response.header.A': "'b'" },
      ResponseTemplates: { 'application/json': '{}' },
    };
    expect(readMock(mock(answer))).toEqual({
      status: 200,
      headers: { 'content-type': 'application/json', a: 'b' },
      body: '{}',
    });
  });

  test.each([
    [
      'a header the method does not declare',
      { StatusCode: '200', ResponseParameters: { 'method.response.header.B': "'b'" } },
    ],
    ['a status the method does not declare', { StatusCode: '404' }],
    ['a mapped header', { StatusCode: '200', ResponseParameters: { 'method.response.header.A': 'context.requestId' } }],
    ['a template to run', { StatusCode: '200', ResponseTemplates: { 'application/json': '$context.stage' } }],
    ['a choice of answers', { StatusCode: '200', SelectionPattern: '2..' }],
  ])('not %s', (_title, answer) => {
    expect(() => readMock(mock(answer))).toThrow(/the embedded cloud does not know/);
  });

  test('not a mock whose request template is more than a status', () => {
    expect(() => readMock(mock({ StatusCode: '200' }, '#if(true){ "statusCode": 200 }#end'))).toThrow(
      /RequestTemplates/,
    );
  });

  test('a header of a gateway response is a literal: AWS promises none from the authorizer', () => {
    const response = (value: string) =>
      readGatewayResponse(
        resource('AWS::ApiGateway::GatewayResponse', {
          ResponseType: 'ACCESS_DENIED',
          ResponseParameters: { 'gatewayresponse.header.A': value },
        }),
      );
    expect(response("'b'")[1]).toMatchObject({ headers: { A: 'b' } });
    for (const mapped of ['context.authorizer.why', 'context.requestId', 'method.request.header.A']) {
      expect(() => response(mapped)).toThrow(/does not know gatewayresponse.header.A/);
    }
  });
});
