import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createHandler } from '../../../functions/mcp/index.ts';
import type { Manifest, ToolEntry } from '../../../functions/mcp/manifest.ts';
import { newTaskKey } from '../../../functions/tasks/ids.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import { modernMessage } from '../../support/clients.ts';
import { fakeService } from '../tasks/aws/fake-service.ts';
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
async function reply(event: object, settings: Partial<Manifest> = {}) {
  let head: { statusCode?: number; headers?: Record<string, string> } = {};
  const from = (stream: PassThrough, prelude: typeof head) => {
    head = prelude;
    return stream;
  };
  vi.stubGlobal('awslambda', { streamifyResponse: (handler: unknown) => handler, HttpResponseStream: { from } });
  const { tools, ...rest } = { ...manifest, tools: [], ...settings };
  const inputs = tools.map(() => () => true);
  const handler = createHandler({ ...rest, tools }, { inputs, outputs: [] }) as unknown as (
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

test('outer spaces and tabs are no part of a header (A-09)', async () => {
  const blanks = { ...headers, 'MCP-Protocol-Version': [' 2025-11-25\t'] };
  expect((await reply({ multiValueHeaders: blanks, body: ping })).statusCode).toBe(200);
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

const tool: ToolEntry = {
  ...{ name: 'x', description: 'd', inputSchema: { type: 'object' }, taskSupport: 'forbidden' },
  ...{ timeout: 5_000, function: 0 },
};

test.each([1, 2])('a long answer arrives whole, also where it is cut inside a character: %i', async (before) => {
  const description = 'x'.repeat(before) + '😀'.repeat(20_000);
  vi.stubEnv('TOOL_FUNCTIONS', 'a-function');
  const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const { body } = await reply({ multiValueHeaders: headers, body: list }, { tools: [{ ...tool, description }] });
  expect(JSON.parse(body).result.tools).toMatchObject([{ name: 'x', description }]);
});

test('a tool that is a state machine is one of TOOL_MACHINES', async () => {
  const { function: _, ...rest } = tool;
  const machine: ToolEntry = { ...rest, taskSupport: 'required', engine: 'machine', stateMachine: 0 };
  const tools = { tools: [machine] };
  const event = { multiValueHeaders: headers, body: ping };
  await expect(reply(event, tools)).rejects.toThrow('TOOL_MACHINES');
  vi.stubEnv('TOOL_MACHINES', 'a-machine');
  expect((await reply(event, tools)).statusCode).toBe(200);
});

test('the caller is the one that API Gateway has verified (G-15)', async () => {
  const event = { multiValueHeaders: headers, body: ping };
  expect((await reply(event, { auth: 'oauth' })).statusCode).toBe(403);
  const requestContext = { authorizer: { owner: 'ann', scope: 'mcp' } };
  expect((await reply({ ...event, requestContext }, { auth: 'oauth', scopes: ['mcp'] })).statusCode).toBe(200);
});

test('a record with a number that JavaScript cannot hold exactly can be read', async () => {
  const now = Date.now();
  const options = { tool: 'x', ttl: 60_000, timeout: 60_000, accepts: [], legacy: false };
  const { inputResponses: _, ...record } = create(newTaskKey({ kind: 'anonymous' }, now), options, now);
  const fields = Object.entries({ ...record, unknown: '12345678901234567890.5' });
  const Item = Object.fromEntries(fields.map(([name, value]) => [name, attribute(name, value)]));
  const { asked, endpoint } = await fakeService([200, { Item }]);
  vi.stubEnv('AWS_ENDPOINT_URL', endpoint);
  const { body, headers: sent } = modernMessage('tasks/get', { taskId: record.taskId });
  const all = Object.entries({ ...sent, 'content-type': 'application/json' });
  const multiValueHeaders = Object.fromEntries(all.map(([name, value]) => [name, [value]]));
  const answer = JSON.parse((await reply({ multiValueHeaders, body: JSON.stringify(body) })).body);
  expect(answer).toMatchObject({ result: { taskId: record.taskId, status: 'working' } });
  expect(asked[0]?.headers['x-amz-target']).toBe('DynamoDB_20120810.GetItem');
});
const attribute = (name: string, value: unknown) =>
  typeof value === 'number' || name === 'unknown' ? { N: String(value) } : { S: value };
