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

/** Hears what became of each question of a task, by a name that no other question of the task has. */
export interface OnQuestion {
  asked(question: string): void;
  /** Its answer was acknowledged. */
  taken(question: string): void;
}

/**
 * What either revision offers. Each method throws NoAnswer where the client does not get what it asked for, and any
 * other error for an answer that must not be.
 */
export interface Client {
  make(name: string, args: object, asTask: boolean, key: string | undefined): Promise<Made>;
  look(taskId: string): Promise<Look>;
  /** Answers all that the task asks now; answers its end, if it was shown that meanwhile. */
  answer(taskId: string, on?: OnQuestion): Promise<Look | undefined>;
  /** `acknowledged`: whatever became of the task. */
  cancel(taskId: string): Promise<'cancelled' | 'over' | 'acknowledged'>;
}

/** The connection broke, or AWS was out of reach: nobody knows what was done. */
export class NoAnswer extends Error {}

const unheard: OnQuestion = { asked() {}, taken() {} };
const LONGEST_MS = 4_000;
const NEVER_STARTED = 'The task could not be started';
const OLD_KEY = 'The task of this idempotency key has expired: use a new key';
/** The reason of an error that is the request's and not the task's: AWS was out of reach. */
const OUTAGE = 'Unavailable';
/** The one error of an outage that says what it kept from happening. */
const NOT_MADE = `${NEVER_STARTED}: try again later`;
const over = (status: string) => ['completed', 'failed', 'cancelled'].includes(status);
type Message = Answer['body'];

/** fetch says so of a connection that breaks; its other errors are mistakes of who calls it. */
const isCut = (error: unknown) => error instanceof TypeError && ['fetch failed', 'terminated'].includes(error.message);
const isBusy = (status: number) => status === 429 || status >= 500;

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
      if (isBusy(stream.status)) throw new NoAnswer(`HTTP ${stream.status}`);
      if (message === '') continue;
      if (message.method !== undefined) await on(message);
      else return message;
    }
    if (stream.status >= 400 && !isBusy(stream.status)) throw new Error(`HTTP ${stream.status} and nothing else`);
  } catch (error) {
    if (!isCut(error)) throw error;
  } finally {
    late.abort();
  }
  throw new NoAnswer();
}

const isOutage = (error: Message) => error?.code === -32603 && error.data?.reason === OUTAGE;

function resultOf(message: Message): Message {
  const { result, error } = message;
  if (result !== undefined) return result;
  const text = JSON.stringify(error ?? message);
  throw isOutage(error) ? new NoAnswer(text) : new Error(text);
}

/** Of a call that is to begin a task. */
function begunOf(message: Message): Message {
  const { error } = message;
  if (error?.code === -32603 && error.message === NOT_MADE) throw new NoAnswer(NOT_MADE);
  // Another call under this key has started its run, which died before this one found it: the task has failed so.
  if (error?.code === -32602 && error.message === OLD_KEY) throw new NoAnswer(OLD_KEY);
  return resultOf(message);
}

const textOf = (result: Message): string => result.content.map(({ text }: { text: string }) => text).join('');
const completed = (result: Message): Look => ({ status: 'completed', text: textOf(result) });
const failed = (error: Message): Look => ({ status: 'failed', reason: error.data?.reason ?? error.message });
/** An error that is the end of a task: it has a reason, but for two. */
const isEnd = (error: Message): boolean =>
  error !== undefined &&
  !isOutage(error) &&
  (error.data?.reason !== undefined || [NEVER_STARTED, OLD_KEY].includes(error.message));

/** What a call without a task came to: a result, an error of the tool's, or a task that goes on. */
function delivered(message: Message): Made {
  const { error } = message;
  if (isOutage(error) && error.data.taskId !== undefined) return { taskId: error.data.taskId };
  if (isEnd(error)) return { look: failed(error) };
  const result = begunOf(message);
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
      return asTask ? { taskId: begunOf(message).taskId } : delivered(message);
    },
    look,
    async answer(taskId, on = unheard) {
      const seen = await look(taskId);
      if (over(seen.status)) return seen;
      const { questions = [] } = seen;
      if (questions.length === 0) return undefined;
      for (const question of questions) on.asked(question);
      const inputResponses = Object.fromEntries(questions.map((question) => [question, ANSWER]));
      resultOf(await request('tasks/update', { taskId, inputResponses }));
      for (const question of questions) on.taken(question);
      return undefined;
    },
    async cancel(taskId) {
      resultOf(await request('tasks/cancel', { taskId }));
      return 'acknowledged';
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
  const outcome = async (taskId: string, on?: (message: Message) => Promise<unknown>): Promise<Look> => {
    const message = await request('tasks/result', { taskId }, on);
    const { error } = message;
    if (isEnd(error)) return failed(error);
    if (error?.message === 'Task was cancelled') return { status: 'cancelled' };
    return completed(resultOf(message));
  };
  /** Whether the answer to a question of the server was acknowledged. */
  const respond = async (id: unknown): Promise<boolean> => {
    try {
      const { status, body } = await post(url, { jsonrpc: '2.0', id, result: ANSWER }, headers);
      if (status === 202) return true;
      if (isBusy(status)) return false;
      throw new Error(`An answer got HTTP ${status}: ${JSON.stringify(body)}`);
    } catch (error) {
      if (isCut(error)) return false;
      throw error;
    }
  };
  return {
    async make(name, args, asTask, key) {
      const _meta = key === undefined ? {} : { _meta: { 'mcp-task-server/idempotencyKey': key } };
      const task = asTask ? { task: { ttl: 3_600_000 } } : {};
      const message = await request('tools/call', { name, arguments: args, ..._meta, ...task });
      return asTask ? { taskId: begunOf(message).task.taskId } : delivered(message);
    },
    async look(taskId) {
      const { status } = resultOf(await request('tasks/get', { taskId }));
      if (!over(status) || status === 'cancelled') return { status };
      const end = await outcome(taskId);
      if (end.status !== status) throw new Error(`tasks/get says ${status}, tasks/result ${JSON.stringify(end)}`);
      return end;
    },
    answer: (taskId, on = unheard) =>
      outcome(taskId, async ({ id, method, params }) => {
        if (method !== 'elicitation/create') return;
        on.asked(params.message);
        if (await respond(id)) on.taken(params.message);
      }),
    async cancel(taskId) {
      const message = await request('tasks/cancel', { taskId });
      const { code, message: text } = message.error ?? {};
      if (code === -32602 && /^Cannot cancel task: it is already \w+$/.test(text)) return 'over';
      const { status } = resultOf(message);
      if (status !== 'cancelled') throw new Error(`A cancelled task is shown as ${status}`);
      return 'cancelled';
    },
  };
}
