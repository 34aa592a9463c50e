import type { SharedClock } from '../time/clock.ts';
import type { LogStream } from './types.ts';

export interface ErrorBody {
  errorType: string;
  errorMessage: string;
  trace?: string[];
}

export type Mode = 'buffered' | 'streaming';

export interface WorkerSettings {
  codePath: string;
  handler: string;
  clock?: SharedClock;
}

export interface InvokeMessage {
  type: 'invoke';
  id: string;
  payload: string;
  mode: Mode;
  /** Epoch milliseconds. */
  deadline: number;
  functionArn: string;
}

/** Returns credit for bytes that the consumer took. */
export interface AckMessage {
  type: 'ack';
  id: string;
  bytes: number;
}

/** Asks how much memory the worker uses. */
export interface WeighMessage {
  type: 'weigh';
}

/** Asks whether the worker has time: it answers as soon as its event loop turns. */
export interface PingMessage {
  type: 'ping';
}

export type ToWorker = InvokeMessage | AckMessage | WeighMessage | PingMessage;

/** `result`, `failed` and `done` each end an invocation; `fatal` ends the worker too. */
export type FromWorker =
  | { type: 'ready' }
  | { type: 'pong' }
  | { type: 'heap'; bytes: number }
  /** `id`: the event that wrote it. */
  | { type: 'log'; id: string | undefined; stream: LogStream; text: string }
  | { type: 'result'; id: string; payload: string }
  /** `facts`: the other fields of the error, which the runtime logs and does not return. */
  | { type: 'failed'; id: string; error: ErrorBody; facts?: object }
  | { type: 'chunk'; id: string; bytes: Uint8Array }
  | { type: 'end'; id: string }
  | { type: 'done'; id: string }
  /** Several messages in one: each message wakes a thread. */
  | { type: 'batch'; messages: readonly FromWorker[] }
  | { type: 'fatal'; error: ErrorBody };

/** 8 NUL bytes separate the metadata from the body of a streamed HTTP response. */
export const preludeDelimiter = new Uint8Array(8);

/** Bytes that may be in flight from a worker before its stream stops taking more. */
export const streamWindow = 64 * 1024;

/** 6 MB of payload plus 100 bytes: the number in the error message of AWS. */
const maxResponseBytes = 6_291_556;

export function ended(id: string, payload: string): FromWorker {
  if (Buffer.byteLength(payload) <= maxResponseBytes) return { type: 'result', id, payload };
  const errorMessage = `Response payload size exceeded maximum allowed payload size (${maxResponseBytes} bytes).`;
  return { type: 'failed', id, error: { errorType: 'Function.ResponseSizeTooLarge', errorMessage } };
}
