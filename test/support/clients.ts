import { setTimeout as sleep } from 'node:timers/promises';

/** Raw HTTP clients, one per revision: what a test sends is what it sees. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly body: any;
}

export type Headers_ = Record<string, string | undefined>;

export async function post(url: string, body: unknown, headers: Headers_ = {}): Promise<Answer> {
  const all = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers };
  const response = await fetch(url, {
    method: 'POST',
    headers: Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const json = response.headers.get('content-type')?.startsWith('application/json') === true;
  return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : text };
}

export const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
export const FORMS = { elicitation: {} };
let nextId = 1;

export interface ModernOptions {
  readonly capabilities?: object;
  readonly headers?: Headers_;
}

/** One 2026-07-28 request with everything the revision demands. */
export function modernRequest(
  url: string,
  method: string,
  params: Record<string, unknown> = {},
  options: ModernOptions = {},
) {
  const name = params.name ?? params.taskId;
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': options.capabilities ?? { ...TASKS, ...FORMS },
  };
  const headers = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': name }),
    ...options.headers,
  };
  return post(url, { jsonrpc: '2.0', id: nextId++, method, params: { ...params, _meta } }, headers);
}

/** A 2025-11-25 session. */
export async function legacySession(url: string, capabilities: object = FORMS, version = '2025-11-25') {
  const params = { protocolVersion: version, capabilities, clientInfo: { name: 'test', version: '1' } };
  const first = await post(url, { jsonrpc: '2.0', id: nextId++, method: 'initialize', params });
  const session = first.headers.get('mcp-session-id') ?? '';
  const headers = { 'mcp-protocol-version': version, 'mcp-session-id': session };
  return {
    session,
    initialized: first,
    request: (method: string, params_: object = {}, extra: Headers_ = {}) =>
      post(url, { jsonrpc: '2.0', id: nextId++, method, params: params_ }, { ...headers, ...extra }),
    notify: (method: string) => post(url, { jsonrpc: '2.0', method }, headers),
  };
}

/** Polls a task in 2026-07-28 until `until` says so; gives up after 20 s. */
export async function poll(
  url: string,
  taskId: string,
  until: (task: Answer['body']) => boolean,
): Promise<Answer['body']> {
  for (const started = Date.now(); ; await sleep(50)) {
    const { body } = await modernRequest(url, 'tasks/get', { taskId });
    if (body.error !== undefined || until(body.result)) return body.result ?? body;
    if (Date.now() - started > 20_000) throw new Error(`Gave up on ${JSON.stringify(body.result)}`);
  }
}

export const ended = (task: Answer['body']) => ['completed', 'failed', 'cancelled'].includes(task.status);

/** Calls a tool as a 2026-07-28 task and waits for its end. */
export async function runTask(url: string, name: string, args: object = {}): Promise<Answer['body']> {
  const { body } = await modernRequest(url, 'tools/call', { name, arguments: args });
  return poll(url, body.result.taskId, ended);
}
