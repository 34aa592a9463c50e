import type { Readable } from 'node:stream';

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
}

export type LogStream = 'stdout' | 'stderr';

export interface LambdaOptions {
  /** @default 16 */
  maxWorkersPerFunction?: number;
  /** A worker idle for so long is ended. @default 60_000 */
  idleMs?: number;
  /** How long a module may load before the function timeout starts to count. @default 10_000 */
  initMs?: number;
  onLog?: (functionName: string, line: string, stream: LogStream) => void;
  /** Factor on the time an invocation waits for a free worker (10 s). Function code runs on the real clock. @default 1 */
  timeScale?: number;
}

export interface InvokeOptions {
  /** Gives up waiting. As in AWS, a running function is not stopped by it. */
  signal?: AbortSignal;
  /** Asynchronous invocation: answers at once, runs in the background. */
  event?: boolean;
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
  busy: number;
}

export interface Lambda {
  /** @throws AwsError when the service refuses; what the function throws is a result with `functionError`. */
  invoke(nameOrArn: string, payload: string, options?: InvokeOptions): Promise<InvokeResult>;
  /** @throws FunctionError when the function fails before it began to answer. */
  invokeStreaming(nameOrArn: string, payload: string, options?: { signal?: AbortSignal }): Promise<StreamResult>;
  /** The Lambda Invoke wire. Undefined when the path is not Lambda's. */
  handleHttp(request: HttpRequest): Promise<HttpResponse | undefined>;
  workers(): WorkerCount[];
  /** Ends a function's workers at once, as a crash would. */
  kill(functionName: string): void;
  stop(): Promise<void>;
}
