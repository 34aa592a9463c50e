import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, type Headers_, legacySession, modernMessage, openStream, post } from '../../support/clients.ts';
import { ANSWER } from './tools.ts';

/** A task as its client sees it. */
export interface Look {
  readonly status: string;
  /** Of its result. */
  readonly text?: string;
  /** Of its error. */
  readonly reason?: string;
  readonly questions?: readonly string[];
}

export interface Made {
  readonly taskId?: string;
  /** Of a call without a task that was answered in time. */
  readonly look?: Look;
}

/** What either revision offers. Each method throws NoAnswer where the client does not get what it asked for. */
export interface Client {
  make(name: string, args: object, asTask: boolean, key: string | undefined): Promise<Made>;
  look(taskId: string): Promise<Look>;
  /** Answers all that the task asks now. */
  answer(taskId: string): Promise<void>;
  /** Whether the task is cancelled by this, as far as the answer says so. */
  cancel(taskId: string): Promise<boolean>;
}

/** The connection broke, or an error came: nobody knows what was done. */
export class NoAnswer extends Error {}

const LONGEST_MS = 4_000;
const NEVER_STARTED = 'The task could not be started';
/** The reason of an error that is the request's and not the task's: AWS was out of reach. */
const OUTAGE = 'Unavailable';
const over = (status: string) => ['completed', 'failed', 'cancelled'].includes(status);
type Message = Answer['body'];

/** One request and its answer; on a stream, what comes before it goes to `on`. What does not fit its revision throws. */
async function ask(
  url: string,
  body: object,
  headers: Headers_,
  on: (message: Message) => Promise<unknown> = async () => {},
): Promise<Message> {
  const late = new AbortController();
  try {
    const stream = await openStream(url, body, headers);
    sleep(LONGEST_MS, undefined, { signal: late.signal }).then(stream.close, () => {});
    for await (const { data } of stream.events) {
      const message = data as Message;
      if (message === '') continue;
      if (message.method !== undefined) await on(message);
      else return message;
    }
  } catch (error) {
    // fetch says so of every connection that breaks; anything else is an answer that must not be.
    if (!(error instanceof TypeError)) throw error;
  } finally {
    late.abort();
  }
  throw new NoAnswer();
}

function resultOf(message: Message): Message {
  if (message.result === undefined) throw new NoAnswer(JSON.stringify(message.error ?? message));
  return message.result;
}

const textOf = (result: Message): string => result.content.map(({ text }: { text: string }) => text).join('');
const completed = (result: Message): Look => ({ status: 'completed', text: textOf(result) });
const failed = (error: Message): Look => ({ status: 'failed', reason: error.data?.reason ?? error.message });

/** What a call without a task came to: a result, an error of the tool's, or a task that goes on. */
function delivered(message: Message): Made {
  const { reason, taskId: unread } = message.error?.data ?? {};
  if (reason === OUTAGE && unread !== undefined) return { taskId: unread };
  if (reason !== undefined && reason !== OUTAGE) return { look: failed(message.error) };
  const result = resultOf(message);
  const taskId = result.structuredContent?.taskId;
  return taskId === undefined ? { look: completed(result) } : { taskId };
}

export function modernClient(url: string): Client {
  const request = (method: string, params: Record<string, unknown>, options = {}) => {
    const { body, headers } = modernMessage(method, params, options);
    return ask(url, body, headers);
  };
  const look = async (taskId: string): Promise<Look> => {
    const task = resultOf(await request('tasks/get', { taskId }));
    if (task.status === 'completed') return completed(task.result);
    if (task.status === 'failed') return failed(task.error);
    const { status, inputRequests } = task;
    return { status, ...(inputRequests && { questions: Object.keys(inputRequests) }) };
  };
  return {
    async make(name, args, asTask, key) {
      const headers = key === undefined ? {} : { 'idempotency-key': key };
      const options = asTask ? { headers } : { headers, capabilities: {} };
      const message = await request('tools/call', { name, arguments: args }, options);
      return asTask ? { taskId: resultOf(message).taskId } : delivered(message);
    },
    look,
    async answer(taskId) {
      const { questions = [] } = await look(taskId);
      const inputResponses = Object.fromEntries(questions.map((question) => [question, ANSWER]));
      if (questions.length > 0) resultOf(await request('tasks/update', { taskId, inputResponses }));
    },
    // It is acknowledged whatever became of it.
    cancel: async (taskId) => {
      resultOf(await request('tasks/cancel', { taskId }));
      return (await look(taskId)).status === 'cancelled';
    },
  };
}

export async function legacyClient(url: string): Promise<Client> {
  const { headers } = await legacySession(url);
  let lastId = 0;
  const request = (method: string, params: object, on?: (message: Message) => Promise<unknown>) => {
    lastId += 1;
    return ask(url, { jsonrpc: '2.0', id: lastId, method, params }, headers, on);
  };
  const outcome = async (taskId: string): Promise<Look> => {
    const { result, error } = await request('tasks/result', { taskId });
    if (result !== undefined) return completed(result);
    // Without a reason it is an error of this request, but for one.
    const { reason = error?.message === NEVER_STARTED ? NEVER_STARTED : OUTAGE } = error?.data ?? {};
    if (reason === OUTAGE) throw new NoAnswer();
    return failed(error);
  };
  return {
    async make(name, args, asTask, key) {
      const _meta = key === undefined ? {} : { _meta: { 'mcp-task-server/idempotencyKey': key } };
      const task = asTask ? { task: { ttl: 3_600_000 } } : {};
      const message = await request('tools/call', { name, arguments: args, ..._meta, ...task });
      return asTask ? { taskId: resultOf(message).task.taskId } : delivered(message);
    },
    async look(taskId) {
      const { status } = resultOf(await request('tasks/get', { taskId }));
      return over(status) && status !== 'cancelled' ? outcome(taskId) : { status };
    },
    async answer(taskId) {
      await request('tasks/result', { taskId }, async ({ id, method }) => {
        if (method !== 'elicitation/create') return;
        await post(url, { jsonrpc: '2.0', id, result: ANSWER }, headers);
      });
    },
    async cancel(taskId) {
      const { result } = await request('tasks/cancel', { taskId });
      return result?.status === 'cancelled';
    },
  };
}
