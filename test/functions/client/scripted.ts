import { setImmediate } from 'node:timers/promises';
import { Client as Client2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
// The library loads one of them at the first call. Loaded here, they belong to no single test (test/mutation).
import '../../../functions/client/legacy.ts';
import '../../../functions/client/modern.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every shape.
export type Message = any;
/** Returns the result, or throws: a `Refusal` for an error of the server, `UNANSWERED`, or what the network throws. */
export type Handler = (params: Message, message: Message) => unknown;

/** An error that the server answers with. */
export class Refusal extends Error {
  readonly code: number;

  readonly data: object | undefined;

  constructor(code: number, message: string, data?: object) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The request arrives, and its stream ends without an answer. */
export const UNANSWERED = new Error('unanswered');
/** What `fetch` throws when the connection is cut. */
export const cut = () => new TypeError('terminated');

const HANDSHAKE: Readonly<Record<string, Handler>> = {
  'server/discover': () => ({
    ...{ resultType: 'complete', supportedVersions: ['2026-07-28'], ttlMs: 1, cacheScope: 'public' },
    capabilities: { tools: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } },
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'scripted', version: '1' } },
  }),
  initialize: () => ({
    protocolVersion: '2025-11-25',
    capabilities: { tools: {}, tasks: { requests: { tools: { call: {} } } } },
    serverInfo: { name: 'scripted', version: '1' },
  }),
};

/** A transport to a server of functions, by the names of methods. What they throw is lost or refused. */
export class Scripted {
  /** The requests that have arrived, after the handshake. */
  readonly asked: Message[] = [];
  /** What the client answered to requests of the server. */
  readonly answers: Message[] = [];
  /** With what each of them was sent. */
  readonly options: object[] = [];
  onmessage?: (message: Message) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly handlers: Readonly<Record<string, Handler>>;

  constructor(methods: Readonly<Record<string, Handler>>) {
    this.handlers = { ...HANDSHAKE, ...methods };
  }

  async start(): Promise<void> {}

  async close(): Promise<void> {
    this.onclose?.();
  }

  /** The methods that were asked. */
  methods(): string[] {
    return this.asked.map(({ method }) => method);
  }

  async send(message: Message, options: { onRequestStreamEnd?: () => void } = {}): Promise<void> {
    const { id, method, params } = message;
    if (method === undefined) this.answers.push(message);
    if (method === undefined || id === undefined) return;
    if (HANDSHAKE[method] === undefined) {
      this.asked.push(message);
      this.options.push(options);
    }
    try {
      const handler = this.handlers[method];
      if (handler === undefined) throw new Refusal(-32601, `Method not found: ${method}`);
      this.onmessage?.({ jsonrpc: '2.0', id, result: await handler(params, message) });
    } catch (error) {
      if (error === UNANSWERED) return options.onRequestStreamEnd?.();
      if (!(error instanceof Refusal)) throw error;
      this.onmessage?.({ jsonrpc: '2.0', id, error: { code: error.code, message: error.message, data: error.data } });
    }
  }
}

const info = { name: 'test', version: '1' };
const capabilities = { elicitation: {} };

/** The official clients in each revision, connected to a scripted server. */
export const connected = {
  async 'client 2.x, 2026-07-28'(transport: Scripted) {
    const client = new Client2(info, { versionNegotiation: { mode: 'auto' } });
    await client.connect(transport as never);
    return client;
  },
  async 'client 2.x, 2025-11-25'(transport: Scripted) {
    const client = new Client2(info, { capabilities, versionNegotiation: { mode: 'legacy' } });
    await client.connect(transport as never);
    return client;
  },
  async 'sdk 1.x, 2025-11-25'(transport: Scripted) {
    const client = new Client1(info, { capabilities });
    await client.connect(transport as never);
    return client;
  },
};

export const NEW = connected['client 2.x, 2026-07-28'];
export const OLD = connected['sdk 1.x, 2025-11-25'];

/** One handler after the other; the last one stays. */
export function inTurn(...handlers: (Handler | undefined)[]): Handler {
  let next = 0;
  return (...given) => handlers[Math.min(next++, handlers.length - 1)]?.(...given);
}

export const throwing =
  (error: Error): Handler =>
  () => {
    throw error;
  };

/** Lets go on what waits for nothing but its turn. */
export async function turns(count = 20): Promise<void> {
  for (let i = 0; i < count; i++) await setImmediate();
}

const times = { createdAt: '2026-01-01T00:00:00Z', lastUpdatedAt: '2026-01-01T00:00:00Z' };

/** A task as each revision writes it; `pollInterval` in ms. */
export const task = {
  modern: (status: string, more: object = {}, taskId = 'T') => ({
    ...{ resultType: 'complete', taskId, status, ...times, ttlMs: 60_000, pollIntervalMs: 10 },
    ...more,
  }),
  legacy: (status: string, more: object = {}, taskId = 'T') => ({
    ...{ taskId, status, ...times, ttl: 60_000, pollInterval: 10 },
    ...more,
  }),
};
export const DONE = { content: [{ type: 'text', text: 'done' }] };

/**
 * A server with one task, in the words of both revisions: `tools/call` makes it, and `tasks/get` shows one status after the
 * other. `also` overrides its methods.
 */
export function taskServer(
  statuses: readonly (readonly [string, object?])[],
  also: Readonly<Record<string, Handler>> = {},
) {
  const ends = { completed: { result: { resultType: 'complete', ...DONE } }, failed: { error: FAILURE } };
  const shown = statuses.map(
    ([status, more = {}]): Handler =>
      (_params, { legacy }) => {
        if (legacy) return task.legacy(status, more);
        return task.modern(status, { ...ends[status as keyof typeof ends], ...more });
      },
  );
  const get = inTurn(...shown);
  const modern = ({ _meta }: Message) => _meta?.['io.modelcontextprotocol/protocolVersion'] !== undefined;
  return new Scripted({
    'tools/call': (params) =>
      modern(params) ? task.modern('working', { resultType: 'task' }) : { task: task.legacy('working') },
    'tasks/get': (params) => get(params, { legacy: !modern(params) }),
    'tasks/result': () => DONE,
    'tasks/cancel': (params) => (modern(params) ? { resultType: 'complete' } : task.legacy('cancelled')),
    'tasks/update': () => ({ resultType: 'complete' }),
    ...also,
  });
}
export const FAILURE = { code: -32603, message: 'The tool failed' };
