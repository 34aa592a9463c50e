import type { Client, Transport } from '@modelcontextprotocol/client';
import type { ConnectedMcpSessionPort, JsonRpcResponse } from '@modelcontextprotocol/ext-tasks/client';
import type { JsonValue } from '@modelcontextprotocol/ext-tasks/core';
import { isObject, parsed } from '../tasks/shape.ts';
import { KEY } from './options.ts';
import { isPassing, Lost, persist } from './persist.ts';

const META = 'io.modelcontextprotocol';
const CLIENT_INFO = { name: 'mcp-task-server/client', version: '0.1.0' };

interface Params {
  readonly _meta?: Readonly<Record<string, JsonValue>>;
}

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly result?: JsonValue;
  readonly error?: { readonly code: number; readonly message: string };
}

/**
 * Sends requests without the client, which cannot read the answers of the tasks extension. They use the client's
 * transport, with its headers and its authorization, and ids that the client does not use.
 */
export function portOf(client: Client, capabilities: Readonly<Record<string, JsonValue>>): ConnectedMcpSessionPort {
  const { transport } = client;
  if (transport === undefined) throw new Error('The client is not connected');
  const _meta = {
    [`${META}/protocolVersion`]: client.getNegotiatedProtocolVersion() as string,
    [`${META}/clientInfo`]: CLIENT_INFO,
    [`${META}/clientCapabilities`]: { ...capabilities, extensions: { [`${META}/tasks`]: {} } },
  };
  return {
    endpointId: 'server',
    taskCapabilities: { generation: 'v2', capabilities: {} },
    async dispatch(request, { signal } = {}) {
      const { method, params } = request as unknown as { method: string; params: Params };
      const { _meta: mine = {}, ...rest } = params;
      const message = { method, params: { ...rest, _meta: { ...mine, ..._meta } } };
      const once = async () => {
        const answer = await send(transport, message, signal);
        if (answer.kind === 'error' && isPassing(answer.error)) throw new Refused(answer.error);
        return answer;
      };
      try {
        // A second call without a key would be a second task.
        return await (method === 'tools/call' && mine[KEY] === undefined ? once() : persist(once, signal));
      } catch (thrown) {
        const error = errorIn(thrown);
        if (error === undefined) throw thrown;
        return { kind: 'error', error };
      }
    },
    // Questions and the ends of tasks come with tasks/get, so nothing listens here.
    // Stryker disable ArrowFunction: the session is never closed, and so never calls what these return.
    onServerRequest: () => () => {},
    onNotification: () => () => {},
    onInvalidated: () => () => {},
    // Stryker restore ArrowFunction
    invalidated: false,
  };
}

const waiting = new WeakMap<Transport, Map<string, (message: Message) => void>>();

/** An error after which another try may help. */
class Refused extends Lost {
  readonly error: NonNullable<Message['error']>;

  constructor(error: NonNullable<Message['error']>) {
    super(error.message);
    this.error = error;
  }
}

/** Passes answers to requests of this port to `send`, and all other messages to the client. */
function answersOf(transport: Transport): Map<string, (message: Message) => void> {
  const known = waiting.get(transport);
  if (known !== undefined) return known;
  const answers = new Map<string, (message: Message) => void>();
  waiting.set(transport, answers);
  const { onmessage } = transport;
  transport.onmessage = (message, extra) => {
    const { id, method } = message as Message;
    const resolve = method === undefined ? answers.get(String(id)) : undefined;
    // Stryker disable next-line OptionalChaining: a connected client has set it.
    if (resolve === undefined) onmessage?.(message, extra);
    else resolve(message as Message);
  };
  return answers;
}

async function send(transport: Transport, request: object, signal: AbortSignal | undefined): Promise<JsonRpcResponse> {
  const id = `task-${crypto.randomUUID()}`;
  const answers = answersOf(transport);
  const answer = Promise.withResolvers<Message>();
  answers.set(id, answer.resolve);
  // Stryker disable next-line OptionalChaining: only the signal calls it.
  const abort = () => answer.reject(signal?.reason);
  signal?.addEventListener('abort', abort);
  const options = {
    ...(signal && { requestSignal: signal }),
    onRequestStreamEnd: () => answer.reject(new Lost('The stream ended without an answer')),
  };
  try {
    transport.send({ jsonrpc: '2.0', id, ...request } as never, options).catch(answer.reject);
    const { result, error } = await answer.promise;
    return error === undefined ? { kind: 'result', result: result ?? {} } : { kind: 'error', error };
  } finally {
    answers.delete(id);
    signal?.removeEventListener('abort', abort);
  }
}

/** The JSON-RPC error of an answer, or the one in an HTTP error, which the transport throws as text. */
function errorIn(thrown: unknown): Message['error'] {
  if (thrown instanceof Refused) return thrown.error;
  const text = (thrown as { data?: { text?: unknown } } | null)?.data?.text;
  const message = parsed(String(text));
  return isObject(message) ? (message as Message).error : undefined;
}
