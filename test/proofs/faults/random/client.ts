import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Answer,
  type Headers_,
  legacySession,
  modernMessage,
  openStream,
  post,
} from '../../../support/clients.ts';
import { ANSWER, brief } from './tools.ts';

/** A task as its client sees it. */
export interface Look {
  /** `gone`: there is no such task, or no more. What ended with an error of its tool is `completed` in both revisions. */
  readonly status: string;
  /** Its result is an error of its tool. */
  readonly isError?: true;
  /** Of its result; a large one as `brief` has it. */
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

/** Hears of each question of a task, by a name that no other question of the task has. */
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
  /** Holds one stream, resumed where it breaks off, to its end; hears each status that it tells. */
  listen(taskId: string, told: (status: string) => void): Promise<void>;
  /** `acknowledged`: says nothing of the task. */
  cancel(taskId: string): Promise<'cancelled' | 'over' | 'acknowledged'>;
}

/** The connection broke, or AWS was out of reach: the client does not know what was done. */
export class NoAnswer extends Error {}

/** Cancels without an answer: each may be between its read and its write, which a function does within its 29 seconds. */
export const cancels = {
  underWay: 0,
  async count<T>(cancel: Promise<T>): Promise<T> {
    this.underWay++;
    return cancel.finally(() => this.underWay--);
  },
};

const unheard: OnQuestion = { asked() {}, taken() {} };
const LONGEST_MS = 4_000;
/** How often a stream is resumed at most, and after which pause. */
const STREAMS = 6;
const PAUSE_MS = 40;
const NEVER_STARTED = 'The task could not be started';
/** Of a tool that never is a task: nothing can tell whether it ran. */
const ANSWER_LOST = 'The answer of the tool was lost: it may have run';
const OLD_KEY = 'The task of this idempotency key has expired: use a new key';
/** The reasons of errors that are the request's and not the task's: AWS was out of reach. */
const OUTAGES = ['Unavailable', 'ResultUnavailable'];
/** The one error of an outage that says what it kept from happening. */
const NOT_MADE = `${NEVER_STARTED}: try again later`;
const over = (status: string) => ['completed', 'failed', 'cancelled'].includes(status);
type Message = Answer['body'];

/** fetch says so of a connection that breaks; its other errors are mistakes of who calls it. */
const isCut = (error: unknown) => error instanceof TypeError && ['fetch failed', 'terminated'].includes(error.message);
const isBusy = (status: number) => status === 429 || status >= 500;

/**
 * One request and its answer; on a stream, what comes before it goes to `on`, and ids of events to `heard`. Without a
 * body a GET. What does not fit its revision throws.
 */
async function ask(
  url: string,
  body: object | undefined,
  headers: Headers_,
  on: (message: Message) => Promise<unknown> = async () => {},
  heard = (_id: string): void => {},
): Promise<Message> {
  const late = new AbortController();
  try {
    const stream = await openStream(url, body, headers, body === undefined ? 'GET' : 'POST');
    sleep(LONGEST_MS, undefined, { signal: late.signal }).then(stream.close, () => {});
    for await (const { data, id } of stream.events) {
      if (id !== undefined) heard(id);
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

const isOutage = (error: Message) => error?.code === -32603 && OUTAGES.includes(error.data?.reason);

function resultOf(message: Message): Message {
  const { result, error } = message;
  if (result !== undefined) return result;
  const text = JSON.stringify(error ?? message);
  throw isOutage(error) ? new NoAnswer(text) : new Error(text);
}

/** Of a question about one task, which may be gone. */
const isGone = ({ error }: Message): boolean => error?.code === -32602 && error.message === 'Task not found';

/** Of a call that is to begin a task. */
function begunOf(message: Message): Message {
  const { error } = message;
  if (error?.code === -32603 && [NOT_MADE, ANSWER_LOST].includes(error.message)) throw new NoAnswer(error.message);
  // Another call under this key has started its run, which died before this one found it: the task has failed so.
  if (error?.code === -32602 && error.message === OLD_KEY) throw new NoAnswer(OLD_KEY);
  return resultOf(message);
}

const textOf = (result: Message): string => result.content.map(({ text }: { text: string }) => text).join('');
const completed = (result: Message): Look => ({
  ...{ status: 'completed', text: brief(textOf(result)) },
  ...(result.isError === true && { isError: true }),
});
const failed = (error: Message): Look => ({ status: 'failed', reason: error.data?.reason ?? error.message });
/** An error that is the end of a task: it has a reason, but for two. */
const isEnd = (error: Message): boolean =>
  error !== undefined &&
  !isOutage(error) &&
  (error.data?.reason !== undefined || [NEVER_STARTED, OLD_KEY].includes(error.message));

/** The outcome of a call without a task: a result, an error of the tool, or a task that goes on. */
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
    const answer = await request('tasks/get', { taskId });
    if (isGone(answer)) return { status: 'gone' };
    const task = resultOf(answer);
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
    async listen(taskId, told) {
      const { body, headers } = modernMessage('subscriptions/listen', { notifications: { taskIds: [taskId] } });
      const on = async ({ method, params }: Message) => method === 'notifications/tasks' && told(params.status);
      resultOf(await ask(url, body, headers, on));
    },
    async cancel(taskId) {
      resultOf(await cancels.count(request('tasks/cancel', { taskId })));
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
    return ofOutcome(await request('tasks/result', { taskId }, on));
  };
  const ofOutcome = (message: Message): Look => {
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
      const answer = await request('tasks/get', { taskId });
      if (isGone(answer)) return { status: 'gone' };
      const { status } = resultOf(answer);
      if (!over(status) || status === 'cancelled') return { status };
      const end = await outcome(taskId);
      // F-06: this revision shows an error of a tool as failed.
      if ((end.isError ? 'failed' : end.status) !== status)
        throw new Error(`tasks/get says ${status}, tasks/result ${JSON.stringify(end)}`);
      return end;
    },
    answer: (taskId, on = unheard) =>
      outcome(taskId, async ({ id, method, params }) => {
        if (method !== 'elicitation/create') return;
        on.asked(params.message);
        if (await respond(id)) on.taken(params.message);
      }),
    async listen(taskId, told) {
      lastId += 1;
      const body = { jsonrpc: '2.0', id: lastId, method: 'tasks/result', params: { taskId } };
      let last: string | undefined;
      const heard = (id: string): void => {
        last = id;
      };
      for (let streams = 0; streams < STREAMS; streams++) {
        try {
          const resumed = { ...headers, 'last-event-id': last };
          const message = ask(url, last === undefined ? body : undefined, resumed, undefined, heard);
          return told(ofOutcome(await message).status);
        } catch (error) {
          if (!(error instanceof NoAnswer)) throw error;
          await sleep(PAUSE_MS);
        }
      }
      throw new NoAnswer();
    },
    async cancel(taskId) {
      const message = await cancels.count(request('tasks/cancel', { taskId }));
      const { code, message: text } = message.error ?? {};
      if (code === -32602 && /^Cannot cancel task: it is already \w+$/.test(text)) return 'over';
      const { status } = resultOf(message);
      if (status !== 'cancelled') throw new Error(`A cancelled task is shown as ${status}`);
      return 'cancelled';
    },
  };
}
