import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { modernMessage } from '../../support/clients.ts';

/** Milliseconds between two polls of a task: a client that never pauses measures its own polls. */
const PAUSE_MS = 5;
const GIVE_UP_MS = 30_000;

export interface Times {
  /** Milliseconds of each `tools/call`. */
  readonly creates: number[];
  /** Milliseconds of each `tasks/get`. */
  readonly polls: number[];
  /** Milliseconds from the call to the answer that says `completed`. */
  readonly tasks: number[];
}

export interface Client {
  /** One task, from its call to its end. */
  run(times: Times): Promise<void>;
  close(): void;
}

/** The requests of a client of one revision. */
interface Dialect {
  /** Before the first task. Returns headers of every later request. */
  open(send: Send): Promise<Headers>;
  call(): Message;
  get(taskId: string): Message;
}

type Headers = Readonly<Record<string, string | undefined>>;
type Message = { readonly body: object; readonly headers: Headers };
type Send = (message: Message) => Promise<Answer>;

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const modern: Dialect = {
  open: async () => ({}),
  call: () => modernMessage('tools/call', { name: 'short', arguments: {} }),
  get: (taskId) => modernMessage('tasks/get', { taskId }),
};

let nextId = 1;
const rpc = (method: string, params: object): Message => ({
  body: { jsonrpc: '2.0', id: nextId++, method, params },
  headers: { 'mcp-protocol-version': '2025-11-25' },
});
const legacy: Dialect = {
  async open(send) {
    const clientInfo = { name: 'bench', version: '1' };
    const { headers } = await send(rpc('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }));
    return { 'mcp-session-id': String(headers['mcp-session-id']) };
  },
  call: () => rpc('tools/call', { name: 'short', arguments: {}, task: { ttl: 60_000 } }),
  get: (taskId) => rpc('tasks/get', { taskId }),
};

/** A client with one connection: a bare one, so that the client costs little of what is measured. */
export function openClient(url: string, revision: '2026-07-28' | '2025-11-25' = '2026-07-28'): Client {
  const dialect = revision === '2025-11-25' ? legacy : modern;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let opened: Promise<Headers> | undefined;
  const ask = async ({ body, headers }: Message, times: number[]) => {
    opened ??= dialect.open((message) => post(url, agent, message));
    const message = { body, headers: { ...headers, ...(await opened) } };
    const begun = performance.now();
    let { status, text } = await post(url, agent, message);
    // A client repeats what a busy server refuses; the time of the repetition counts.
    while (text.includes('"reason":"Unavailable"') && performance.now() - begun < GIVE_UP_MS) {
      ({ status, text } = await post(url, agent, message));
    }
    times.push(performance.now() - begun);
    const { result, error } = JSON.parse(text);
    if (status !== 200 || error !== undefined) throw new Error(`HTTP ${status}, ${text}`);
    return result;
  };
  return {
    async run({ creates, polls, tasks }) {
      const begun = performance.now();
      const created = await ask(dialect.call(), creates);
      const { taskId } = created.task ?? created;
      for (;;) {
        const { status } = await ask(dialect.get(taskId), polls);
        const took = performance.now() - begun;
        if (status === 'completed') return void tasks.push(took);
        if (status !== 'working' || took > GIVE_UP_MS) throw new Error(`${taskId} is ${status} after ${took} ms`);
        await sleep(PAUSE_MS);
      }
    },
    close: () => agent.destroy(),
  };
}

function post(url: string, agent: Agent, { body, headers }: Message): Promise<Answer> {
  const sent = Buffer.from(JSON.stringify(body));
  const all = {
    ...headers,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'content-length': sent.length,
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: 'POST', agent, headers: all }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => resolve(answerOf(incoming, chunks)));
      incoming.on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end(sent);
  });
}

/** Some servers answer with a stream of one event. */
function answerOf({ statusCode, headers }: IncomingMessage, chunks: readonly Buffer[]): Answer {
  const text = Buffer.concat(chunks).toString();
  const data = headers['content-type']?.startsWith('text/event-stream') ? /^data: (.+)$/m.exec(text)?.[1] : undefined;
  return { status: statusCode, headers, text: data ?? text };
}
