import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AwsCredentials, signedRequests } from '../aws/signed-request.ts';
import { executionName } from '../ids.ts';
import type { TaskKey } from '../record.ts';

/** A result belongs to one attempt at a round. The `task` that a tool gets is such a key. */
export interface ResultKey extends TaskKey {
  readonly round: number;
  /** 0 when left out. */
  readonly attempt?: number;
  /** Which try of a round on Express. */
  readonly run?: string;
}

/** Input belongs to a task and is named by its hash, so none is ever overwritten. */
export interface InputKey extends TaskKey {
  /** In hex. */
  readonly sha256: string;
}

/** A result that the server stored for a workflow, named by its hash, where no tool can write. */
export interface OutcomeKey extends TaskKey {
  /** In hex. */
  readonly outcome: string;
}

export type ObjectKey = ResultKey | OutcomeKey | InputKey;

/** Results and input too large for a record: JSON text in S3, which only the lifecycle of the bucket deletes. */
export interface ResultStore {
  /** Can be repeated with the same text. Throws ResultStoreError. */
  put(key: ObjectKey, text: string): Promise<void>;
  /** Throws ResultStoreError, also when there is nothing. */
  get(key: ObjectKey): Promise<string>;
}

/** A call of S3 failed. The message holds no bucket, key or address: it may reach a log or a client. */
export class ResultStoreError extends Error {
  override readonly name = 'ResultStoreError';
  /** The code of S3 (`SlowDown`, `NoSuchKey`) or of the connection (`ECONNREFUSED`, `TimeoutError`). */
  readonly code: string;

  constructor(method: string, code: string) {
    super(`The result could not be ${method === 'PUT' ? 'stored' : 'read'}: ${code}`);
    this.code = code;
  }
}

const ATTEMPTS = 3;
const PAUSE = 100;
const PATIENCE = 15_000;
/** Status 0: no answer. */
type Answer = { readonly status: number; readonly text: string; readonly code: string };

export interface ResultStoreOptions {
  readonly bucket: string;
  /** @default AWS_REGION */
  readonly region?: string;
  /** Serves buckets by path. @default AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, then S3 itself */
  readonly endpoint?: string;
  /** Of all attempts together, in ms. @default 15 seconds */
  readonly patience?: number;
  /** @default those of the environment */
  readonly credentials?: () => Promise<AwsCredentials>;
}

/**
 * Two operations of S3 by signed requests: the client of S3 would add more to a cold start than all code of
 * the endpoint. Credentials are Lambda's, from the environment.
 *
 * @example
 * await resultStore({ bucket: task.results }).put(task, JSON.stringify(result));
 */
export function resultStore(options: ResultStoreOptions): ResultStore {
  const { region = process.env.AWS_REGION ?? '', patience = PATIENCE } = options;
  const { origin, prefix } = place(options, region);
  const request = signedRequests('s3', origin, region, 5_000, options.credentials);

  const attempt = async (method: string, key: ObjectKey, abortSignal: AbortSignal, body?: Buffer): Promise<Answer> => {
    const sent = { method, path: prefix + objectKey(key), ...(body && { body }) };
    const answer = await request(sent, abortSignal);
    const { status } = answer;
    const text = answer.body.toString();
    const code = isDone(status) ? '' : (/<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? `status ${status}`);
    return { status, text, code };
  };
  const send = async (method: string, key: ObjectKey, body?: Buffer): Promise<string> => {
    const signal = AbortSignal.timeout(patience);
    for (let tried = 1; ; tried++) {
      const { status, text, code } = await attempt(method, key, signal, body).catch(unanswered);
      if (isDone(status)) return text;
      const again = status === 0 || status === 429 || status >= 500 || code === 'RequestTimeout';
      if (signal.aborted) throw new ResultStoreError(method, 'TimeoutError');
      if (!again || tried === ATTEMPTS) throw new ResultStoreError(method, code);
      await sleep(PAUSE * 2 ** tried * Math.random());
    }
  };
  return {
    async put(key, text) {
      await send('PUT', key, Buffer.from(text));
    },
    get: (key) => send('GET', key),
  };
}

const isDone = (status: number): boolean => status >= 200 && status < 300;

function unanswered({ code, name }: Error & { readonly code?: string }): Answer {
  return { status: 0, text: '', code: code ?? name };
}

/**
 * Made from the task, so a reader of one record cannot reach the result of another (C-28, E-15). Made from the attempt,
 * so an attempt that was given up and still runs does not overwrite the result of the next. Two runs of a round on
 * Express may be at the same attempt: each try has another name.
 */
export function objectKey(key: ObjectKey): string {
  const folder = createHash('sha256').update(key.owner).digest('hex');
  // Tools may not write to these two folders.
  if ('sha256' in key) return `inputs/${folder}/${key.taskId}/${key.sha256}`;
  if ('outcome' in key) return `outcomes/${folder}/${key.taskId}/${key.outcome}`;
  const { taskId, round, attempt = 0, run } = key;
  const place = `results/${folder}/${executionName(taskId, round)}${attempt > 0 ? `-a${attempt}` : ''}`;
  return run === undefined ? place : `${place}-${run}`;
}

function place({ bucket, endpoint }: ResultStoreOptions, region: string): { origin: URL; prefix: string } {
  const given = endpoint ?? process.env.AWS_ENDPOINT_URL_S3 ?? process.env.AWS_ENDPOINT_URL;
  if (given !== undefined) return { origin: new URL(given), prefix: `/${bucket}/` };
  return { origin: new URL(`https://${bucket}.s3.${region}.amazonaws.com`), prefix: '/' };
}
