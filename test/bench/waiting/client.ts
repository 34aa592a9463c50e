import { legacySession, modernMessage, readSse } from '../../support/clients.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers have every shape.
type Json = any;

const POSTED = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

async function send(url: string, { body, headers }: { body: object; headers: object }): Promise<Response> {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body), headers: { ...POSTED, ...headers } });
  if (response.status !== 200) throw new Error(`HTTP ${response.status}: ${await response.text()}`);
  return response;
}

/** A 2026-07-28 request, and its result. */
export async function request(url: string, method: string, params: Record<string, unknown> = {}): Promise<Json> {
  const message = modernMessage(method, params);
  const response = await send(url, { body: message.body, headers: message.headers });
  const { result, error } = (await response.json()) as Json;
  if (error) throw new Error(JSON.stringify(error));
  return result;
}

export const create = async (url: string, name: string, args: object = {}): Promise<string> =>
  (await request(url, 'tools/call', { name, arguments: args })).taskId;

/** The server says to try again. */
export class Unavailable extends Error {}

export interface Held {
  /** Resolves with the first event. */
  readonly acknowledged: Promise<unknown>;
  /** Resolves with the result that ends the stream; undefined when it ends without. */
  readonly result: Promise<Json>;
}

function hold(url: string, message: { body: object; headers: object }): Held {
  const first = Promise.withResolvers<unknown>();
  const since = performance.now();
  const result = send(url, message).then(async (response) => {
    const type = response.headers.get('content-type') ?? '';
    if (!type.startsWith('text/event-stream')) {
      const text = await response.text();
      const problem = `${type} and no stream, after ${Math.round(performance.now() - since)} ms: ${text}`;
      throw text.includes('"reason":"Unavailable"') ? new Unavailable(problem) : new Error(problem);
    }
    let last: Json;
    for await (const { data } of readSse(response)) {
      first.resolve(data);
      if (typeof data === 'object' && data !== null && 'result' in data) last = data.result;
    }
    first.reject(new Error('the stream ended without an event'));
    return last;
  });
  result.catch(first.reject);
  return { acknowledged: first.promise, result };
}

export function listen(url: string, taskId: string): Held {
  return hold(url, modernMessage('subscriptions/listen', { notifications: { taskIds: [taskId] } }));
}

/** A task of a new 2025-11-25 session, and what opens one more `tasks/result` stream for it. */
export async function legacyTask(url: string, name: string, args: object): Promise<() => Held> {
  const { headers, request } = await legacySession(url);
  const { body } = await request('tools/call', { name, arguments: args, task: {} });
  const { taskId } = body.result.task;
  let id = 0;
  return () =>
    hold(url, { headers, body: { jsonrpc: '2.0', id: `r${id++}`, method: 'tasks/result', params: { taskId } } });
}
