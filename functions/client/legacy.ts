import { setTimeout as sleep } from 'node:timers/promises';
import type { KnownClient } from './clients.ts';
import { type CallOptions, KEY, type Progress, type TaskOptions, type ToolResult } from './options.ts';
import { isPassing, persist } from './persist.ts';
import { type Listening, listen } from './questions.ts';

const METHOD_NOT_FOUND = -32601;
/** The longest timeout of a timer, in milliseconds. By default the clients give up after a minute. */
const LONG = 2 ** 31 - 1;

/** Between two polls, in milliseconds. */
const [SHORTEST, LONGEST] = [50, 3_600_000];
/** Before a second tasks/result for the same question, in milliseconds. */
const FIRST_AGAIN = 10_000;

type Send = <T>(method: string, params: object) => Promise<T>;

interface Task {
  readonly taskId: string;
  readonly status: Progress['status'];
  readonly statusMessage?: string;
  readonly pollInterval?: unknown;
}

/** Calls a tool in 2025-11-25, by plain requests of either client. */
export async function callTask(client: KnownClient, name: string, args: object, options: CallOptions) {
  const { idempotencyKey: key, signal } = options;
  signal?.throwIfAborted();
  const send = await senderOf(client);
  const params = { name, arguments: args, ...(key !== undefined && { _meta: { [KEY]: key } }) };
  const create = () => send<{ task: Task }>('tools/call', { ...params, task: {} });
  const created = (key === undefined ? create() : persist(create, signal)).catch((error: { code?: unknown }) => {
    if (error.code !== METHOD_NOT_FOUND) throw error;
    return undefined;
  });
  // A task that is created after an abort is cancelled, too.
  const answer = await orAborted(created, signal).catch((error) => {
    void created.then((late) => late && cancel(send, late.task.taskId)).catch(() => {});
    throw error;
  });
  // A tool that never runs as a task gets a plain call.
  if (answer === undefined) return orAborted(send<ToolResult>('tools/call', params), signal);
  await options.onTask?.(answer.task.taskId);
  return settle(client, send, answer.task.taskId, options);
}

export async function resumeTask(client: KnownClient, taskId: string, options: TaskOptions) {
  return settle(client, await senderOf(client), taskId, options);
}

async function settle(client: KnownClient, send: Send, taskId: string, options: TaskOptions): Promise<ToolResult> {
  const { signal, onQuestion } = options;
  const stop = listen(client, taskId, onQuestion);
  try {
    const result = await orAborted(Promise.race([stop.failed, follow(send, taskId, options, stop)]), signal);
    stop.end(true);
    return result;
  } catch (error) {
    stop.end(false);
    if (signal?.aborted) await cancel(send, taskId);
    throw error;
  }
}

/**
 * Cancels a task. It never fails: the caller gets the reason of the abort, and the server ends the task at its deadline. The caller
 * waits for the first try only.
 */
async function cancel(send: Send, taskId: string): Promise<void> {
  const once = () => send('tasks/cancel', { taskId });
  await once().catch((error: unknown) => {
    if (isPassing(error)) void persist(once, undefined).catch(() => undefined);
  });
}

/** How long to wait for the next poll, in ms, whatever the server says. */
const pauseOf = (interval: unknown): number =>
  typeof interval === 'number' ? Math.min(Math.max(interval, SHORTEST), LONGEST) : 1_000;

/**
 * Polls. From the first question on, it also waits for tasks/result, where questions arrive. If the clients lose its connection, they
 * try to resume it for some seconds, and report an error, but not to the request. So while a question is open that `onQuestion` has not,
 * another tasks/result follows 10 s later, then 20 s and so on.
 */
async function follow(
  send: Send,
  taskId: string,
  { onProgress }: TaskOptions,
  { ended, isAnswering, transportErrors }: Listening,
): Promise<ToolResult> {
  const result = () => send<ToolResult>('tasks/result', { taskId });
  const first = Promise.withResolvers<ToolResult>();
  let waiting: Promise<void> | undefined;
  let unheard = 0;
  let known = 0;
  let pauseBefore = FIRST_AGAIN;
  const wait = () => {
    const one = result().then(first.resolve, () => {
      // The stream ended before the task: the next poll opens another.
      if (waiting === one) waiting = undefined;
    });
    waiting = one;
    unheard = 0;
    known = transportErrors();
  };
  let last: string | undefined;
  for (;;) {
    const task = await persist(() => send<Task>('tasks/get', { taskId }), ended);
    ended.throwIfAborted();
    const { status, statusMessage: message, pollInterval } = task;
    if (`${status} ${message}` !== last) onProgress?.({ taskId, status, ...(message !== undefined && { message }) });
    last = `${status} ${message}`;
    // Not on the stream that waits: its connection may be gone without a sign.
    if (!['working', 'input_required'].includes(status)) return persist(result, ended);
    if (status === 'input_required' && waiting === undefined) {
      wait();
    } else if (status !== 'input_required' || isAnswering()) {
      unheard = 0;
      pauseBefore = FIRST_AGAIN;
    } else if (transportErrors() !== known && unheard >= pauseBefore) {
      pauseBefore *= 2;
      wait();
    }
    const ms = pauseOf(pollInterval);
    const pause = sleep(ms, undefined, { signal: ended });
    const heard = await Promise.race([first.promise, pause]);
    if (heard !== undefined) return heard;
    await pause;
    unheard += ms;
  }
}

/** Sends requests without a check of answers: each client wants another kind of schema. */
async function senderOf(client: KnownClient): Promise<Send> {
  const options = { timeout: LONG };
  // Stryker disable all: only a program without the other package notices (test/functions/client/optional-peer.test.ts).
  if ('getProtocolEra' in client) {
    const any = { '~standard': { version: 1, vendor: 'any', validate: (value: unknown) => ({ value }) } } as const;
    return async (method, params) => (await client.request({ method, params: { ...params } }, any, options)) as never;
  }
  // Stryker restore all
  const { ResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
  return async (method, params) =>
    (await client.request({ method, params: { ...params } } as never, ResultSchema, options)) as never;
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', abort));
}
