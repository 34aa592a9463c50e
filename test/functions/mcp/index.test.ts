import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createHandler } from '../../../functions/mcp/index.ts';
import { manifest } from './support/fake-server.ts';

beforeEach(() => {
  const names = ['AWS_REGION', 'TASKS_TABLE', 'RESULTS_BUCKET', 'SIGNING_KEY_SECRET', 'MACHINE_ARN_PREFIX'];
  for (const name of names) vi.stubEnv(name, 'named');
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

/** What Lambda streams for an event. */
async function reply(event: object) {
  let head: { statusCode?: number; headers?: Record<string, string> } = {};
  const from = (stream: PassThrough, prelude: typeof head) => {
    head = prelude;
    return stream;
  };
  vi.stubGlobal('awslambda', { streamifyResponse: (handler: unknown) => handler, HttpResponseStream: { from } });
  const handler = createHandler({ ...manifest, tools: [] }, { inputs: [], outputs: [] }) as unknown as (
    ...given: unknown[]
  ) => Promise<void>;
  const stream = new PassThrough();
  const body = text(stream);
  const empty: Partial<APIGatewayProxyEvent> = { httpMethod: 'POST', body: null, isBase64Encoded: false };
  await handler({ ...empty, requestContext: {}, ...event }, stream, { getRemainingTimeInMillis: () => 30_000 });
  return { ...head, body: await body };
}
const headers = { 'Content-Type': ['application/json'], 'MCP-Protocol-Version': ['2025-11-25'] };
const ping = JSON.stringify({ jsonrpc: '2.0', id: 'é', method: 'ping' });

test.each([
  ['as it is', { body: ping }],
  ['in base64', { body: Buffer.from(ping).toString('base64'), isBase64Encoded: true }],
])('an event of API Gateway is answered, with a body %s; names of headers have any case', async (_name, more) => {
  const { statusCode, headers: sent, body } = await reply({ multiValueHeaders: headers, ...more });
  expect([statusCode, sent?.['content-type']]).toEqual([200, 'application/json']);
  expect(JSON.parse(body)).toEqual({ jsonrpc: '2.0', id: 'é', result: {} });
});

test('a header that was sent twice counts with both values', async () => {
  const twice = { ...headers, 'MCP-Protocol-Version': ['2025-11-25', '2026-07-28'] };
  expect((await reply({ multiValueHeaders: twice, body: ping })).statusCode).toBe(400);
});

test('an event without headers or body is refused, not an error', async () => {
  expect((await reply({ multiValueHeaders: null })).statusCode).toBe(415);
  const { statusCode, body } = await reply({ multiValueHeaders: { ...headers, 'X-Empty': undefined } });
  expect([statusCode, JSON.parse(body).error.code]).toEqual([400, -32700]);
});
