import type { Readable } from 'node:stream';
import type { SharedClock } from '../time/clock.ts';

export interface FunctionSpec {
  name: string;
  arn: string;
  /** The folder of the bundled asset. */
  codePath: string;
  /** The handler as the template names it: `index.handler`. */
  handler: string;
  /** The runtime as the template names it: `python3.13` runs by the python3 of this machine. @default nodejs24.x */
  runtime?: string;
  timeoutSeconds: number;
  memoryMb: number;
  /** All its variables: none is inherited from this process. The runtime adds only what Lambda itself sets. */
  environment: Record<string, string>;
  asynchronous?: AsynchronousSettings;
  /** The format of what its console writes, and the lowest level of JSON lines. @default Text */
  logging?: { readonly format: 'Text' | 'JSON'; readonly level?: string };
  /** The clock of its `Date`. @default the clock of the machine */
  clock?: SharedClock;
  /** Reserved concurrency: the most executions at once, taken from the quota of the other functions. */
  reservedConcurrency?: number;
  /** Why it cannot run here: each invocation fails with this text. @default it runs */
  refusal?: string;
}

/** The settings that an update of a function may change. */
export type Deployed = Partial<
  Pick<FunctionSpec, 'codePath' | 'handler' | 'environment' | 'timeoutSeconds' | 'refusal'>
>;

/** The settings of an `AWS::Lambda::EventInvokeConfig`. */
export interface AsynchronousSettings {
  /** @default 2 */
  maximumRetryAttempts?: number;
  /** @default 21_600 */
  maximumEventAgeSeconds?: number;
  /** The ARN that gets a record of each event that is given up. @default none */
  onFailure?: string;
}

/** The message that the destination of a failed asynchronous invocation gets. */
export interface InvocationRecord {
  readonly version: '1.0';
  readonly timestamp: string;
  readonly requestContext: {
    readonly requestId: string;
    readonly functionArn: string;
    readonly condition: 'RetriesExhausted' | 'EventAgeExceeded';
    readonly approximateInvokeCount: number;
  };
  readonly requestPayload: unknown;
  /** Absent if no attempt finished. */
  readonly responseContext?: {
    readonly statusCode: number;
    readonly executedVersion: string;
    readonly functionError?: string;
  };
  readonly responsePayload?: unknown;
}

export type LogStream = 'stdout' | 'stderr';

/** How many workers and executions there may be. */
export interface WorkerOptions {
  /** @default 16 */
  maxWorkersPerFunction?: number | undefined;
  /**
   * The memory of all workers together in megabytes, each counted as the memory of its function. The first worker of a
   * function may exceed it. @default three quarters of the memory of the machine or container
   */
  maxMemoryMb?: number | undefined;
  /**
   * The account's quota of concurrent executions, over all functions. Many new accounts have 10. Above it, synchronous
   * calls get TooManyRequestsException and asynchronous ones wait. @default 1_000
   */
  concurrency?: number | undefined;
  /**
   * Whether events may share a worker: streams always, other events if the runs in all workers of the function wait
   * (docs/writing-tools.md). Otherwise each event has its own worker, as on AWS, and runs that wait use up the workers.
   * The death of a worker fails all of its events. @default true
   */
  sharedWorkers?: boolean | undefined;
}

export interface LambdaOptions extends WorkerOptions {
  /** A worker ends after this idle time in milliseconds. @default 60_000 */
  idleMs?: number;
  /** Milliseconds that a module may load before the function timeout starts. @default 10_000 */
  initMs?: number;
  /** @param requestId of the event that wrote the line; undefined outside of events */
  onLog?: (functionName: string, line: string, stream: LogStream, requestId?: string) => void;
  /**
   * Divides the time that an invocation waits for a free worker (30 s), the pauses between asynchronous attempts, and the
   * longest age of events. Function code runs on the real clock. @default 1
   */
  timeScale?: number;
  /** Milliseconds since the epoch. @default Date.now */
  now?: () => number;
  /** Called before a worker gets an event. The event waits for the returned promise. */
  onRun?: (run: Run) => Promise<void> | undefined;
  /** Takes the records for the destination of failed asynchronous invocations. */
  onGivenUp?: (destinationArn: string, record: InvocationRecord) => void;
}

/** A worker that is about to start with an event. */
export interface Run {
  readonly functionName: string;
  readonly workerId: string;
  readonly payload: string;
}

interface AnyOptions {
  /** Called with the worker that got the event. */
  onWorker?: (workerId: string) => unknown;
}

export interface StreamOptions extends AnyOptions {
  /** Keeps each chunk until the next one, or the end: `heldChunks`. @default false */
  holdsChunks?: boolean;
}

export interface InvokeOptions extends AnyOptions {
  /** Stops waiting. As in AWS, the function keeps running. */
  signal?: AbortSignal;
  /** Invokes asynchronously: returns at once, runs in the background, retries if the function fails. */
  event?: boolean;
  /** Called at the end of each asynchronous attempt; with undefined if no worker took it. */
  onAttempt?: (result: InvokeResult | undefined) => void;
}

export interface InvokeResult {
  /** 202 for an asynchronous invocation. */
  statusCode: 200 | 202;
  /** The JSON text the function produced, byte for byte. Empty for an asynchronous invocation. */
  payload: string;
  functionError?: 'Unhandled';
  executedVersion: '$LATEST';
}

export interface StreamResult {
  statusCode: number;
  headers: Record<string, string | string[]>;
  cookies?: string[];
  /** Destroyed with a FunctionError if the function fails after it began to answer. */
  body: Readable;
}

export interface HttpRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer;
}

export interface HttpResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface WorkerCount {
  functionName: string;
  count: number;
  /** The events that run now. */
  busy: number;
}

export interface WorkerHeap {
  functionName: string;
  workerId: string;
  /** Its size after a garbage collection. */
  bytes: number;
}

export interface Lambda {
  /** @throws AwsError if the service refuses; an error of the function is a result with `functionError`. */
  invoke(nameOrArn: string, payload: string, options?: InvokeOptions): Promise<InvokeResult>;
  /** @throws FunctionError if the function fails before it began to answer. */
  invokeStreaming(nameOrArn: string, payload: string, options?: StreamOptions): Promise<StreamResult>;
  /** The HTTP API of Lambda's Invoke. Undefined if the path is not Lambda's. */
  handleHttp(request: HttpRequest): Promise<HttpResponse | undefined>;
  workers(): WorkerCount[];
  /** The memory that each worker uses, after a garbage collection, which pauses it. */
  heaps(): Promise<readonly WorkerHeap[]>;
  /** Updates a function, like UpdateFunctionCode: new events get new workers; runs under way end on the old code. */
  update(functionName: string, deployed: Deployed): void;
  /** Ends the workers of a function at once, like a crash. */
  kill(functionName: string): void;
  /** Ends one worker like a crash. Resolves once it is gone; with false if it was already gone. */
  killWorker(workerId: string): Promise<boolean>;
  stop(): Promise<void>;
}
