import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, type Headers_, legacySession, modernMessage, openStream } from '../../support/clients.ts';
import type { CloudProcess } from './process.ts';

export type Message = Answer['body'];

/** The process that lives now, or the next one. */
export interface Lives {
  current(): Promise<CloudProcess>;
  /** The request under way, for the report of a kill. */
  readonly asking: string[];
}

/** A task as a client saw it. */
export interface Seen {
  readonly status: string;
  /** Its result, or its error. */
  readonly outcome?: unknown;
}

export interface Client {
  /** Returns the id of the task; undefined if the answer was lost: without a key the task cannot be found then. */
  make(name: string, args: object, key?: string): Promise<string | undefined>;
  read(taskId: string): Promise<Seen>;
  /** Waits for the outcome, by tasks/result where there is one. */
  wait(taskId: string): Promise<Seen>;
  cancel(taskId: string): Promise<void>;
}

const LONGEST_MS = 600_000;
export const isOver = ({ status }: Seen) => ['completed', 'failed', 'cancelled'].includes(status);

/** One request and its answer; undefined when it was lost, most likely with the process. */
async function once(lives: Lives, body: { method: string }, headers: Headers_): Promise<Message | undefined> {
  const { url, gone } = await lives.current();
  lives.asking.push(body.method);
  try {
    const stream = await openStream(url, body, headers);
    for await (const { data } of stream.events) {
      const message = data as Message;
      if (message === '' || message.method !== undefined) continue;
      return message;
    }
  } catch (error) {
    // fetch throws this for every broken connection. Any other error is a wrong answer.
    if (!(error instanceof TypeError)) throw error;
    // A connection that broke by itself is an answer that is lost, too.
    await Promise.race([gone, sleep(1_000)]);
  } finally {
    lives.asking.splice(lives.asking.indexOf(body.method), 1);
  }
  return undefined;
}

/** Asks the processes one after the other until one answers. */
async function ask(lives: Lives, body: { method: string }, headers: Headers_): Promise<Message> {
  for (;;) {
    const message = await once(lives, body, headers);
    if (message !== undefined) return message;
  }
}

function resultOf(message: Message): Message {
  if (message.result === undefined) throw new Error(`an error where none may be: ${JSON.stringify(message.error)}`);
  return message.result;
}

async function until(read: () => Promise<Seen>, is: (seen: Seen) => boolean): Promise<Seen> {
  for (const since = performance.now(); ; await sleep(100)) {
    const seen = await read();
    if (is(seen)) return seen;
    if (performance.now() - since > LONGEST_MS) throw new Error(`it stays ${JSON.stringify(seen)}`);
  }
}

export interface ModernClient extends Client {
  /** Waits for a question. */
  asked(taskId: string): Promise<Seen>;
  answer(taskId: string, inputResponses: object): Promise<void>;
}

export function modernClient(lives: Lives): ModernClient {
  const message = (method: string, params: Record<string, unknown>, key?: string) =>
    modernMessage(method, params, key === undefined ? {} : { headers: { 'idempotency-key': key } });
  const request = async (method: string, params: Record<string, unknown>) => {
    const { body, headers } = message(method, params);
    return resultOf(await ask(lives, body, headers));
  };
  const read = async (taskId: string): Promise<Seen> => {
    const { status, result, error } = await request('tasks/get', { taskId });
    return { status, outcome: result ?? error };
  };
  return {
    read,
    async make(name, args, key) {
      const { body, headers } = message('tools/call', { name, arguments: args }, key);
      if (key !== undefined) return resultOf(await ask(lives, body, headers)).taskId;
      const answer = await once(lives, body, headers);
      return answer && resultOf(answer).taskId;
    },
    wait: (taskId) => until(() => read(taskId), isOver),
    asked: (taskId) =>
      until(
        () => read(taskId),
        (seen) => seen.status === 'input_required' || isOver(seen),
      ),
    cancel: (taskId) => request('tasks/cancel', { taskId }),
    answer: (taskId, inputResponses) => request('tasks/update', { taskId, inputResponses }),
  };
}

export async function legacyClient(lives: Lives): Promise<Client> {
  let headers: Headers_ | undefined;
  while (headers === undefined) {
    headers = await legacySession((await lives.current()).url).then(
      (session) => session.headers,
      () => undefined,
    );
  }
  const own = headers;
  let id = 0;
  const message = (method: string, params: object) => ({ jsonrpc: '2.0', id: ++id, method, params });
  const request = (method: string, params: object) => ask(lives, message(method, params), own);
  const outcome = async (taskId: string): Promise<Seen> => {
    const { result, error } = await request('tasks/result', { taskId });
    if (result !== undefined) return { status: 'completed', outcome: { ...result, _meta: undefined } };
    return { status: 'failed', outcome: error };
  };
  return {
    async make(name, args, key) {
      const _meta = key === undefined ? {} : { _meta: { 'mcp-task-server/idempotencyKey': key } };
      const body = message('tools/call', { name, arguments: args, task: {}, ..._meta });
      const answer = key === undefined ? await once(lives, body, own) : await ask(lives, body, own);
      return answer && resultOf(answer).task.taskId;
    },
    async read(taskId) {
      const { status } = resultOf(await request('tasks/get', { taskId }));
      return isOver({ status }) && status !== 'cancelled' ? outcome(taskId) : { status };
    },
    wait: outcome,
    async cancel(taskId) {
      await request('tasks/cancel', { taskId });
    },
  };
}
