import { createHash } from 'node:crypto';
import type { AwsFailure, ClientOptions } from '../aws/client.ts';
import type { Objects } from '../aws/s3.ts';
import { executionName } from '../ids.ts';
import type { TaskKey } from '../record.ts';

/** A result belongs to one attempt at a round. The `task` that a tool gets is this key. */
export interface ResultKey extends TaskKey {
  readonly round: number;
  /** 0 when left out. */
  readonly attempt?: number;
  /** Which try, where two runs of a round may be at the same attempt. */
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

/** A value in the journal of a task, named by its hash. */
export interface EntryValueKey extends TaskKey {
  /** In hex. */
  readonly entryValue: string;
}

export type ObjectKey = ResultKey | OutcomeKey | InputKey | EntryValueKey;

/** What is too large for an item of the table: JSON text in S3, which only the lifecycle of the bucket deletes. */
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
  /** Of the call: `isPassing` judges it. */
  readonly $metadata: AwsFailure['$metadata'];

  constructor(done: 'stored' | 'read', code: string, $metadata?: AwsFailure['$metadata']) {
    super(`The result could not be ${done}: ${code}`);
    this.code = code;
    this.$metadata = $metadata;
  }
}

/** Of one attempt, in ms. */
const REQUEST = { requestTimeout: 5_000, attempts: 3 };
const TIMEOUT = 15_000;

export interface ResultStoreOptions extends Pick<ClientOptions, 'region' | 'endpoint' | 'credentials'> {
  readonly bucket: string;
  /** Of all attempts together, in ms. @default 15 seconds */
  readonly timeout?: number;
}

/**
 * Two operations of S3. Its client is loaded for the first of them.
 *
 * @example
 * await resultStore({ bucket: task.results }).put(task, JSON.stringify(result));
 */
export function resultStore({ bucket, timeout = TIMEOUT, ...options }: ResultStoreOptions): ResultStore {
  let objects: Objects | undefined;
  async function within<T>(done: 'stored' | 'read', call: (objects: Objects, signal: AbortSignal) => Promise<T>) {
    const signal = AbortSignal.timeout(timeout);
    objects ??= (await import('#mcp-task-server/s3')).objects(bucket, { ...REQUEST, ...options });
    return call(objects, signal).catch((error: AwsFailure) => {
      if (signal.aborted) throw new ResultStoreError(done, 'TimeoutError', {});
      throw new ResultStoreError(done, codeOf(error), error.$metadata);
    });
  }
  return {
    async put(key, text) {
      await within('stored', (objects, signal) => objects.put(objectKey(key), text, signal));
    },
    get: (key) => within('read', (objects, signal) => objects.get(objectKey(key), signal)),
  };
}

/** A proxy in between may answer without a code. */
function codeOf({ code, name, $metadata }: AwsFailure): string {
  return code ?? (name === 'Error' ? `status ${$metadata?.httpStatusCode}` : name);
}

/**
 * Made from the task, so a reader of one record cannot reach the result of another (C-28, E-15). Made from the attempt,
 * so an attempt that was given up and still runs does not overwrite the result of the next. Where two runs of a round may
 * be at the same attempt, each try has another name.
 */
export function objectKey(key: ObjectKey): string {
  const folder = createHash('sha256').update(key.owner).digest('hex');
  // Tools may not write to these two folders.
  if ('sha256' in key) return `inputs/${folder}/${key.taskId}/${key.sha256}`;
  if ('outcome' in key) return `outcomes/${folder}/${key.taskId}/${key.outcome}`;
  if ('entryValue' in key) return `steps/${folder}/${key.taskId}/${key.entryValue}`;
  const { taskId, round, attempt = 0, run } = key;
  const place = `results/${folder}/${executionName(taskId, round)}${attempt > 0 ? `-a${attempt}` : ''}`;
  return run === undefined ? place : `${place}-${run}`;
}
