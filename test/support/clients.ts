import { setTimeout as sleep } from 'node:timers/promises';
import { exchange, judged } from './schema/exchange.ts';
import type { SseEvent } from './schema/sse.ts';

export { readSse, type SseEvent } from './schema/sse.ts';

/**
 * Raw HTTP clients, one per revision, which hide nothing from a test. Each answer is checked by the published schema of the
 * request's revision, and throws if it does not fit.
 */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape.
  readonly body: any;
}

export type Headers_ = Record<string, string | undefined>;

export const POSTED = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

export async function post(url: string, body: unknown, headers: Headers_ = {}): Promise<Answer> {
  const response = await send(url, 'POST', body, { ...POSTED, ...headers });
  const text = await response.text();
  const copy = new Response(text === '' ? null : text, response);
  for await (const _event of judged(copy, exchange(body, headers)));
  const json = response.headers.get('content-type')?.startsWith('application/json') === true;
  return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : text };
}

export interface OpenStream {
  readonly status: number;
  readonly headers: Headers;
  /** The events as they come; an answer that is not a stream is the only event. They can be read once. */
  readonly events: AsyncIterable<SseEvent>;
  /** Hangs up: the events end. */
  close(): void;
}

export async function openStream(
  url: string,
  body: unknown,
  headers: Headers_ = {},
  method: 'POST' | 'GET' = 'POST',
): Promise<OpenStream> {
  const hangUp = new AbortController();
  const all = { ...(method === 'POST' ? POSTED : { accept: 'text/event-stream' }), ...headers };
  const response = await send(url, method, body, all, hangUp.signal);
  const events = until(hangUp.signal, judged(response, exchange(body, headers)));
  return { status: response.status, headers: response.headers, events, close: () => hangUp.abort() };
}

async function* until(hangUp: AbortSignal, events: AsyncIterable<SseEvent>) {
  try {
    yield* events;
  } catch (error) {
    if (!hangUp.aborted) throw error;
  }
}

function send(url: string, method: string, body: unknown, headers: Headers_, signal: AbortSignal | null = null) {
  return fetch(url, {
    method,
    signal,
    // This value must be in no log (./planted.ts).
    headers: Object.entries({ 'x-planted': 'planted-secret-header', ...headers }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
    body: body === undefined || typeof body === 'string' ? (body ?? null) : JSON.stringify(body),
  });
}

export const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
export const FORMS = { elicitation: {} };
let nextId = 1;

export interface ModernOptions {
  readonly capabilities?: object;
  readonly headers?: Headers_;
  /** More members of `_meta`. */
  readonly meta?: object;
}

/** The body and the headers of one 2026-07-28 request, with all members that the revision requires. */
export function modernMessage(method: string, params: Record<string, unknown> = {}, options: ModernOptions = {}) {
  const name = params.name ?? params.taskId ?? params.uri;
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': options.capabilities ?? { ...TASKS, ...FORMS },
    ...options.meta,
  };
  const headers: Headers_ = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': name }),
    ...options.headers,
  };
  return { body: { jsonrpc: '2.0', id: nextId++, method, params: { ...params, _meta } }, headers };
}

export function modernRequest(
  url: string,
  method: string,
  params: Record<string, unknown> = {},
  options: ModernOptions = {},
) {
  const { body, headers } = modernMessage(method, params, options);
  return post(url, body, headers);
}

/** A 2025-11-25 session; `more` headers go with every request. */
export async function legacySession(
  url: string,
  capabilities: object = FORMS,
  version = '2025-11-25',
  more: Headers_ = {},
) {
  const params = { protocolVersion: version, capabilities, clientInfo: { name: 'test', version: '1' } };
  const first = await post(url, { jsonrpc: '2.0', id: nextId++, method: 'initialize', params }, more);
  const session = first.headers.get('mcp-session-id') ?? '';
  const headers = { 'mcp-protocol-version': version, 'mcp-session-id': session, ...more };
  return {
    session,
    headers,
    initialized: first,
    request: (method: string, params_: object = {}, extra: Headers_ = {}) =>
      post(url, { jsonrpc: '2.0', id: nextId++, method, params: params_ }, { ...headers, ...extra }),
    notify: (method: string) => post(url, { jsonrpc: '2.0', method }, headers),
  };
}

/** Polls a task in 2026-07-28 until `until` returns true, also if the server is busy; gives up after two minutes. */
export async function poll(
  url: string,
  taskId: string,
  until: (task: Answer['body']) => boolean,
  pauseMs = 50,
): Promise<Answer['body']> {
  for (const started = Date.now(); ; await sleep(pauseMs)) {
    const { body } = await modernRequest(url, 'tasks/get', { taskId });
    const busy = body.error?.data?.reason === 'Unavailable';
    if (!busy && (body.error !== undefined || until(body.result))) return body.result ?? body;
    if (Date.now() - started > 120_000) throw new Error(`Gave up on ${JSON.stringify(body.result)}`);
  }
}

export const ended = (task: Answer['body']) => ['completed', 'failed', 'cancelled'].includes(task.status);

/** Calls a tool as a 2026-07-28 task and waits for its end. */
export async function runTask(url: string, name: string, args: object = {}): Promise<Answer['body']> {
  const { body } = await modernRequest(url, 'tools/call', { name, arguments: args });
  return poll(url, body.result.taskId, ended);
}
