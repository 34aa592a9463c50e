import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { modernMessage } from '../../support/clients.ts';

/** Milliseconds between two looks at a task: a client that never pauses measures its own polls. */
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

/** A client of 2026-07-28 with one connection: a bare one, so that the client costs little of what is measured. */
export function openClient(url: string): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = async (method: string, params: Record<string, unknown>, times: number[]) => {
    const begun = performance.now();
    const { status, text } = await post(url, agent, modernMessage(method, params));
    times.push(performance.now() - begun);
    const { result, error } = JSON.parse(text);
    if (status !== 200 || error !== undefined) throw new Error(`${method}: HTTP ${status}, ${text}`);
    return result;
  };
  return {
    async run({ creates, polls, tasks }) {
      const begun = performance.now();
      const { taskId } = await ask('tools/call', { name: 'short', arguments: {} }, creates);
      for (;;) {
        const { status } = await ask('tasks/get', { taskId }, polls);
        const took = performance.now() - begun;
        if (status === 'completed') return void tasks.push(took);
        if (status !== 'working' || took > GIVE_UP_MS) throw new Error(`${taskId} is ${status} after ${took} ms`);
        await sleep(PAUSE_MS);
      }
    },
    close: () => agent.destroy(),
  };
}

function post(url: string, agent: Agent, { body, headers }: ReturnType<typeof modernMessage>) {
  const sent = Buffer.from(JSON.stringify(body));
  const all = {
    ...headers,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'content-length': sent.length,
  };
  return new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const outgoing = request(url, { method: 'POST', agent, headers: all }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => resolve({ status: incoming.statusCode, text: Buffer.concat(chunks).toString() }));
      incoming.on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end(sent);
  });
}
