import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { AwsError } from './aws-error.ts';
import type { CallLog, Consumed } from './call-log.ts';
import { isObject, type JsonObject } from './json.ts';
import { close, isAbandoned, isForLoopback, listen, readBody, targetOf } from './loopback.ts';
import { isForS3, type RestRequest, type RestService, restRequest } from './rest.ts';

/** One server for all AWS services: what `AWS_ENDPOINT_URL` of the functions points to. */

export interface WireRequest {
  readonly operation: string;
  /** The access key the request was signed with: the logical id of the function or role that calls. */
  readonly caller: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface WireResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  /** The type of the error, where it is one. */
  readonly error?: string | undefined;
  readonly consumed?: Consumed | undefined;
}

export type Operations = Readonly<Record<string, (input: JsonObject) => Promise<unknown>>>;

/** A service that speaks AWS JSON. */
export interface WireService {
  /** Its name in the call log. */
  readonly name: string;
  readonly handle: (request: WireRequest) => Promise<WireResponse>;
}

export interface WireOptions {
  /** By the part of `X-Amz-Target` before the dot. */
  readonly services: Readonly<Record<string, WireService>>;
  /** Lambda speaks REST and not AWS JSON; undefined for a path that it does not know. */
  readonly lambda: (request: RestRequest) => Promise<WireResponse | undefined>;
  readonly s3: RestService;
  readonly calls: CallLog;
  readonly now: () => number;
  readonly onError: (message: string) => void;
}

const MAX_BODY_BYTES = 16 * 1024 * 1024;

export interface Wire {
  readonly url: string;
  /** Starts to answer. Until then requests wait: the functions need the url, and the services the functions. */
  serve(options: WireOptions): void;
  stop(): Promise<void>;
}

export async function openWire(): Promise<Wire> {
  const server = createServer();
  // Longer than any pause in a test: an idle connection that closes just as a client uses it looks like an outage.
  server.keepAliveTimeout = 600_000;
  const url = await listen(server, 0);
  return {
    url,
    serve: (options) => server.on('request', (request, response) => void serve(request, response, options)),
    stop: () => close(server),
  };
}

/** A service made of operations that take and return plain JSON. */
export function jsonService(name: string, version: '1.0' | '1.1', operations: Operations): WireService {
  const headers = { 'content-type': `application/x-amz-json-${version}` };
  return {
    name,
    handle: async ({ operation, body }) => {
      const run = Object.hasOwn(operations, operation) ? operations[operation] : undefined;
      if (!run) throw new AwsError('UnknownOperationException', `${name} does not know ${operation} here`);
      return { status: 200, headers, body: JSON.stringify((await run(parseInput(body))) ?? {}) };
    },
  };
}

export function parseInput(body: Buffer): JsonObject {
  try {
    const input: unknown = JSON.parse(body.toString() || '{}');
    if (isObject(input)) return input;
  } catch {
    // Answered like any other body that is not an object.
  }
  throw new AwsError('SerializationException', 'the body is not a JSON object');
}

async function serve(request: IncomingMessage, response: ServerResponse, options: WireOptions): Promise<void> {
  const answer = await handle(request, options).catch((error: unknown) =>
    isAbandoned(request) ? undefined : failure(error, options),
  );
  if (!answer) return;
  const type = answer.error === undefined ? {} : { 'x-amzn-errortype': answer.error };
  response.writeHead(answer.status, { ...answer.headers, ...type, 'x-amzn-requestid': randomUUID() });
  response.end(answer.body);
}

async function handle(request: IncomingMessage, options: WireOptions): Promise<WireResponse> {
  if (!isForLoopback(request)) throw new AwsError('AccessDeniedException', 'only for this machine', 403);
  const caller = /Credential=([^/,\s]+)\//.exec(request.headers.authorization ?? '')?.[1];
  // Besides naming the caller, a header of this kind keeps web pages out: a browser asks before it sends one.
  if (caller === undefined) throw new AwsError('MissingAuthenticationTokenException', 'the request is not signed', 403);
  const body = await readBody(request, MAX_BODY_BYTES);
  if (!body) throw new AwsError('RequestEntityTooLargeException', 'the body is too large', 413);

  if (isForS3(request)) return callRest(options.s3, restRequest(request, request.url ?? '/', body), caller, options);
  const { path } = targetOf(request);
  const target = request.headers['x-amz-target'];
  const [prefix = '', operation = ''] = typeof target === 'string' ? target.split('.') : [];
  const service = Object.hasOwn(options.services, prefix) ? options.services[prefix] : undefined;
  if (!service && !path.includes('/functions/')) {
    throw new AwsError('UnknownOperationException', `nothing here answers ${target ?? path}`, 404);
  }
  if (!service) return invoke(request, path, body, caller, options);
  const run = () => service.handle({ operation, caller, headers: request.headers, body });
  return recorded({ caller, service: service.name, operation }, () => parseInput(body), run, options);
}

function callRest(service: RestService, request: RestRequest, caller: string, options: WireOptions) {
  const call = { caller, service: service.name, operation: service.operation(request) };
  const input = () => service.input(request);
  return recorded(call, input, () => service.handle(request), options);
}

async function invoke(request: IncomingMessage, path: string, body: Buffer, caller: string, options: WireOptions) {
  const run = async (): Promise<WireResponse> => {
    const answer = await options.lambda(restRequest(request, path, body));
    if (!answer) throw new AwsError('UnknownOperationException', `nothing here answers ${request.method} ${path}`, 404);
    return { ...answer, error: answer.headers?.['x-amzn-errortype'] };
  };
  const input = () => ({
    FunctionName: decodeURIComponent(/\/functions\/([^/]+)/.exec(path)?.[1] ?? ''),
    Payload: body.toString(),
  });
  return recorded({ caller, service: 'lambda', operation: 'Invoke' }, input, run, options);
}

async function recorded(
  call: { caller: string; service: string; operation: string },
  input: () => unknown,
  run: () => Promise<WireResponse>,
  options: WireOptions,
): Promise<WireResponse> {
  const at = options.now();
  const answer = await run().catch((thrown: unknown) => failure(thrown, options));
  const { status, error, consumed } = answer;
  if (options.calls.enabled) options.calls.add({ at, ...call, input: tolerant(input), status, error, consumed });
  return answer;
}

function tolerant(input: () => unknown): unknown {
  try {
    return input();
  } catch {
    return undefined;
  }
}

function failure(thrown: unknown, options: WireOptions): WireResponse {
  if (!(thrown instanceof AwsError)) options.onError(thrown instanceof Error ? String(thrown.stack) : String(thrown));
  const { type, message, status } =
    thrown instanceof AwsError ? thrown : new AwsError('InternalFailure', 'the embedded cloud failed', 500);
  const headers = { 'content-type': 'application/x-amz-json-1.1' };
  return { status, headers, error: type, body: JSON.stringify({ __type: type, message }) };
}
