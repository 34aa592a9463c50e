import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createHandler } from '../../../functions/signals/index.ts';

const PATH = { place: 'p'.repeat(22), name: 'a', mac: 'm'.repeat(43) };

beforeEach(() => {
  const aws = { AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 's' };
  // Nothing listens there: each read of the table fails at once.
  const all = { ...aws, AWS_ENDPOINT_URL: 'http://127.0.0.1:9', TASKS_TABLE: 'T', RESULTS_BUCKET: 'B' };
  for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value);
  vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const ask = (event: object) =>
  createHandler({ server: 'Shop', titles: {} })({
    ...{ httpMethod: 'POST', pathParameters: null, headers: null, body: null, isBase64Encoded: false },
    ...event,
  } as unknown as APIGatewayProxyEvent);

test.each(['TASKS_TABLE', 'RESULTS_BUCKET'])('the function does not start without %s, and names it', (name) => {
  vi.stubEnv(name, undefined);
  expect(() => createHandler({ server: 'Shop', titles: {} })).toThrow(name);
});

test('a request without path, headers and body is 404, before anything is read', async () => {
  const { statusCode, headers, body } = await ask({});
  expect([statusCode, headers?.['content-type'], JSON.parse(body)]).toEqual([
    ...[404, 'application/json', { error: 'There is nothing here. Is the link complete?' }],
  ]);
});

test('the path of a request names the place that is read, and an outage of the table is 503', async () => {
  const { statusCode, headers } = await ask({ pathParameters: PATH });
  expect([statusCode, headers?.['retry-after']]).toEqual([503, '5']);
});

test('the method counts, and the names of headers in any case', async () => {
  expect((await ask({ httpMethod: 'PUT' })).statusCode).toBe(405);
  const page = await ask({ headers: { Accept: 'text/html', 'Content-Type': undefined } });
  expect(page.headers?.['content-type']).toBe('text/html; charset=utf-8');
});

test.each([
  ['its own bytes', 'x'.repeat(32_000), false, 404],
  ['its own bytes, of which there are too many', 'x'.repeat(32_001), false, 413],
  ['the bytes that base64 stands for', Buffer.alloc(32_000, 'x').toString('base64'), true, 404],
  [
    'the bytes that base64 stands for, of which there are too many',
    Buffer.alloc(32_001, 'x').toString('base64'),
    true,
    413,
  ],
])('a body counts by %s', async (_what, body, isBase64Encoded, status) => {
  expect((await ask({ body, isBase64Encoded })).statusCode).toBe(status);
});
