import type { Readable } from 'node:stream';
import type { SharedClock } from '../time/clock.ts';

export interface FunctionSpec {
  name: string;
  arn: string;
  /** The folder of the bundled asset. */
  codePath: string;
  /** As in the template: `index.handler`. */
  handler: string;
  timeoutSeconds: number;
  memoryMb: number;
  /** Complete: nothing is inherited from this process. The runtime adds only what Lambda itself sets. */
  environment: Record<string, string>;
  asynchronous?: AsynchronousSettings;
  /** The clock its `Date` goes by. @default that of the machine */
  clock?: SharedClock;
  /** Whether a worker of it may run many events at once: see `LambdaOptions.sharedWorkers`. @default false */
  sharedWorker?: boolean;
  /** How many executions it may have at once; other functions may have so many less. */
  reservedConcurrency?: number;
}

/** What an `AWS::Lambda::EventInvokeConfig` says. */
export interface AsynchronousSettings {
  /** @default 2 */
  maximumRetryAttempts?: number;
  /** @default 21_600 */
  maximumEventAgeSeconds?: number;
  /** Where the record of an event goes that is given up: an ARN. @default nowhere */
  onFailure?: string;
}

/** What Lambda sends to the destination of a failed asynchronous invocation. */
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
  /** Left out when no attempt came to an end. */
  readonly responseContext?: {
    readonly statusCode: number;
    readonly executedVersion: string;
    readonly functionError?: string;
  };
  readonly responsePayload?: unknown;
}

export type LogStream = 'stdout' | 'stderr';

export interface LambdaOptions {
  /** @default 16 */
  maxWorkersPerFunction?: number;
  /**
   * What the workers of all functions may take together in megabytes, each counted by its function's memory; the first
   * worker of a function may come on top. @default three quarters of the machine's, or of the container's
   */
  maxMemoryMb?: number;
  /** How many executions all functions may have at once; more are refused, or come later. @default 1_000 */
  concurrency?: number;
  /**
   * Whether functions with `sharedWorker` share their workers among events; otherwise each event has a worker to itself,
   * as on AWS. What kills a shared worker fails all of its events. @default true
   */
  sharedWorkers?: boolean;
  /** A worker idle for so long is ended. @default 60_000 */
  idleMs?: number;
  /** How long a module may load before the function timeout starts to count. @default 10_000 */
  initMs?: number;
  /** @param requestId of the event that wrote the line; undefined outside of events */
  onLog?: (functionName: string, line: string, stream: LogStream, requestId?: string) => void;
  /**
   * Factor on the time an invocation waits for a free worker (30 s), on the pauses between the attempts of an
   * asynchronous one, and on the age of its event. Function code runs on the real clock. @default 1
   */
  timeScale?: number;
  /** Milliseconds since the epoch. @default Date.now */
  now?: () => number;
  /** Called before a worker gets an event, which waits for it. */
  onRun?: (run: Run) => Promise<void> | undefined;
  /** Takes what goes to the destination of failed asynchronous invocations. */
  onGivenUp?: (destinationArn: string, record: InvocationRecord) => void;
}

/** A worker about to begin with an event. */
export interface Run {
  readonly functionName: string;
  readonly workerId: string;
  readonly payload: string;
}

export interface StreamOptions {
  /** Gives up waiting. As in AWS, a running function is not stopped by it. */
  signal?: AbortSignal;
  /** Hears which worker got the event. */
  onWorker?: (workerId: string) => void;
}

export interface InvokeOptions extends StreamOptions {
  /** Asynchronous invocation: answers at once, runs in the background, again when the function fails. */
  event?: boolean;
  /** Hears of the end of each attempt of an asynchronous invocation; undefined where no worker took it. */
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
  /** Destroyed with a FunctionError when the function fails after it began to answer. */
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
  /** The events that run now: one for each busy worker, unless workers are shared. */
  busy: number;
}

export interface WorkerHeap {
  functionName: string;
  workerId: string;
  /** What it holds, without garbage. */
  bytes: number;
}

export interface Lambda {
  /** @throws AwsError when the service refuses; what the function throws is a result with `functionError`. */
  invoke(nameOrArn: string, payload: string, options?: InvokeOptions): Promise<InvokeResult>;
  /** @throws FunctionError when the function fails before it began to answer. */
  invokeStreaming(nameOrArn: string, payload: string, options?: StreamOptions): Promise<StreamResult>;
  /** The Lambda Invoke wire. Undefined when the path is not Lambda's. */
  handleHttp(request: HttpRequest): Promise<HttpResponse | undefined>;
  workers(): WorkerCount[];
  /** How much memory each worker uses. Collects its garbage first, for which it stands still. */
  heaps(): Promise<readonly WorkerHeap[]>;
  /** Ends a function's workers at once, as a crash would. */
  kill(functionName: string): void;
  /** The same for one worker; resolves once it is gone. False: it was gone before. */
  killWorker(workerId: string): Promise<boolean>;
  stop(): Promise<void>;
}
