import { randomUUID } from 'node:crypto';
import type { ErrorBody, Mode } from './protocol.ts';
import type { InvokeResult } from './types.ts';

/** Takes the answer to an invocation. Ignores everything after the first ending. */
export interface Reply {
  result(payload: string): void;
  /** The function failed. @param facts other fields of the error: logged, not returned */
  failed(error: ErrorBody, facts?: object): void;
  /** The service failed, not the function. */
  refused(error: Error): void;
  /** @param taken called once there is room for more */
  chunk(bytes: Uint8Array, taken: () => void): void;
  end(): void;
}

export interface Job {
  id: string;
  payload: string;
  mode: Mode;
  reply: Reply;
  /** Called with the worker that takes the job. The job waits for a returned promise. */
  onWorker: ((workerId: string) => unknown) | undefined;
}

export interface Settle<T> {
  resolve: (value: T) => void;
  reject: (error: unknown) => void;
}

export interface JobOptions {
  /** Gets the line that the runtime writes when a function fails. */
  readonly log: (line: string) => void;
  /** The request id; a retried event keeps the id of its first attempt. @default a new one */
  readonly id?: string;
  readonly onWorker?: Job['onWorker'] | undefined;
}

export function newJob(payload: string, mode: Mode, reply: Reply, options: JobOptions): Job {
  const { log, id = randomUUID(), onWorker } = options;
  const failed = (error: ErrorBody, facts?: object): void => {
    log(`Invoke Error ${JSON.stringify({ requestId: id, ...facts, ...error })}`);
    reply.failed(error);
  };
  // AWS passes an empty payload to the function as an empty object.
  return { id, payload: payload === '' ? '{}' : payload, mode, reply: { ...reply, failed }, onWorker };
}

/** The answer of a plain invocation: all of it at once. */
export function wholeReply({ resolve, reject }: Settle<InvokeResult>): Reply {
  const answer = { statusCode: 200, executedVersion: '$LATEST' } as const;
  return {
    result: (payload) => resolve({ ...answer, payload }),
    failed: (error) => resolve({ ...answer, payload: JSON.stringify(error), functionError: 'Unhandled' }),
    refused: reject,
    chunk: (_bytes, taken) => taken(),
    end: () => undefined,
  };
}
