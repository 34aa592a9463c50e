import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Manifest } from '../../functions/mcp/manifest.ts';
import type { ServerFunction } from '../server-code.ts';

// biome-ignore lint/suspicious/noExplicitAny: a handler of any of the functions.
export type Handler = (...given: any[]) => Promise<any>;

export interface WarmUp {
  /** The files beside the bundle, by name. */
  readonly parts: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  /** Calls the function as its first events do: what runs here is compiled in the cache. */
  readonly run: (handler: Handler) => Promise<void>;
}

const tool = { name: 't', description: 'd', inputSchema: { type: 'object' }, timeout: 60_000, machine: 'm' } as const;
const manifest: Manifest = {
  ...{ serverInfo: { name: 's', version: '1' }, auth: 'anonymous', allowedOrigins: [], tools: [] },
  ...{ maxTtl: 86_400_000, inlineWindow: 1_000, holdCap: 1_000, maxOpenTasks: 10, maxStreams: 10 },
  ...{ helperTools: true, questionStream: true },
};
const arn = 'arn:aws:states:us-east-1:123456789012:stateMachine:s-';

/** The first requests of a server, in both revisions. */
async function firstRequests(handler: Handler): Promise<void> {
  const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } };
  const { headers } = await post(handler, 'initialize', initialize, {});
  const legacy = { 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': headers['mcp-session-id'] ?? '' };
  await post(handler, 'tools/list', {}, legacy);
  const { body } = await post(handler, 'tools/call', { name: 't', arguments: {}, task: {} }, legacy);
  await post(handler, 'tasks/get', { taskId: body.result.task.taskId }, legacy);
  await modern(handler, 'server/discover', {});
  await modern(handler, 'tools/list', {});
  const created = await modern(handler, 'tools/call', { name: 't', arguments: {} });
  await modern(handler, 'tasks/get', { taskId: created.body.result.taskId });
}

function modern(handler: Handler, method: string, params: Readonly<Record<string, unknown>>) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  };
  const name = params.name ?? params.taskId;
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...(name ? { 'mcp-name': name } : {}) };
  return post(handler, method, { ...params, _meta }, headers);
}

/** Posts a request. Throws if the answer is an error. */
async function post(handler: Handler, method: string, params: object, sent: Readonly<Record<string, unknown>>) {
  const { headers, text: answer } = await posted(
    handler,
    JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    sent,
  );
  const body = JSON.parse(answer);
  if (body.result === undefined) throw new Error(`${method} was answered with ${answer}`);
  return { headers, body };
}

/** What the endpoint answers to an HTTP request, as API Gateway hands it over. */
export async function posted(handler: Handler, body: string, sent: Readonly<Record<string, unknown>>) {
  let headers: Record<string, string> = {};
  const awslambda = {
    HttpResponseStream: {
      from(stream: PassThrough, head: { headers: typeof headers }) {
        headers = head.headers;
        return stream;
      },
    },
  };
  Object.assign(globalThis, { awslambda: { ...streaming, ...awslambda } });
  const all = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...sent };
  const multiValueHeaders = Object.fromEntries(Object.entries(all).map(([name, value]) => [name, [value]]));
  const event = { httpMethod: 'POST', multiValueHeaders, requestContext: {}, isBase64Encoded: false };
  const stream = new PassThrough();
  const answer = text(stream);
  await handler({ ...event, body }, stream, inMs);
  return { headers, text: await answer };
}

/** What Lambda gives a function that streams. */
export const streaming = { streamifyResponse: (handler: unknown) => handler };

const inMs = { getRemainingTimeInMillis: () => 30_000 };

export const warmUps: Partial<Readonly<Record<ServerFunction, WarmUp>>> = {
  endpoint: {
    parts: {
      'manifest.json': JSON.stringify({ ...manifest, tools: [{ ...tool, taskSupport: 'optional' }] }),
      'validators.cjs': 'exports.inputs = [() => true]; exports.outputs = [undefined];',
    },
    env: { TASKS_TABLE: 't', RESULTS_BUCKET: 'b', SIGNING_KEY_SECRET: 's', MACHINE_ARN_PREFIX: arn },
    run: firstRequests,
  },
  reconciler: {
    parts: { 'machines.json': '{"t":"m"}', 'state-machines.json': '{}', 'express.json': '[]', 'repeatable.json': '[]' },
    env: { TASKS_TABLE: 't', RESULTS_BUCKET: 'b', MACHINE_ARN_PREFIX: arn, SERVER_NAME: 's' },
    async run(handler) {
      await handler({ 'detail-type': 'Scheduled Event', time: new Date().toISOString(), detail: {} }, inMs);
    },
  },
  taskEvents: {
    parts: {},
    env: { SERVER_NAME: 's', EVENT_BUS: 'default' },
    async run(handler) {
      const item = {
        owner: { S: 'o' },
        taskId: { S: 'i' },
        tool: { S: 't' },
        round: { N: '1' },
        createdAt: { N: '1' },
      };
      const working = { ...item, status: { S: 'working' }, updatedAt: { N: '1' } };
      const completed = { ...item, status: { S: 'completed' }, updatedAt: { N: '2' } };
      const now = Date.now() / 1_000;
      const record = (dynamodb: object) => ({ dynamodb: { ApproximateCreationDateTime: now, ...dynamodb } });
      const Records = [record({ NewImage: working }), record({ OldImage: working, NewImage: completed })];
      await handler({ Records }, inMs);
    },
  },
};
