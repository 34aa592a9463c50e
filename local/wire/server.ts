import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { AwsError } from '../aws-error.ts';
import { type CallFacts, ConnectionLost, type FaultService } from '../faults/index.ts';
import { type JsonObject, parsedObject } from '../json.ts';
import { errorResponse } from '../lambda/http.ts';
import { close, isAbandoned, isForLoopback, listen, readBody, signedService, targetOf } from '../loopback.ts';
import { type ExecuteOptions, executeCall, failure } from './execute.ts';
import { isPresigned, signerOf } from './presigned.ts';
import { answerQuery, type QueryService, readForm, refuseQuery } from './query.ts';
import type {
  Operations,
  RestHead,
  RestRequest,
  RestService,
  StreamedRequest,
  WireResponse,
  WireService,
} from './types.ts';

/** Serves all AWS services at one URL, which functions have as `AWS_ENDPOINT_URL`. */

export interface WireOptions extends ExecuteOptions {
  /** Services by the part of `X-Amz-Target` before the dot. */
  readonly services: Readonly<Record<string, WireService>>;
  /** Answers for Lambda, which speaks REST, not AWS JSON; undefined for a path that it does not know. */
  readonly lambda: (request: RestRequest) => Promise<WireResponse | undefined>;
  readonly s3: RestService;
  /** Services that speak the query protocol, by their names in signatures. */
  readonly query: readonly QueryService[];
}

const MAX_BODY_BYTES = 16 * 1024 * 1024;

export async function openWire() {
  const server = createServer();
  // Longer than any pause in a test: an idle connection that closes while a client uses it fails like an outage.
  server.keepAliveTimeout = 600_000;
  // A body of 5 GB takes its time.
  server.requestTimeout = 0;
  const url = await listen(server, 0);
  return {
    url,
    /** Starts to answer. Until then requests wait: the functions need the url, the services need the functions. */
    serve: (options: WireOptions) =>
      server.on('request', (request, response) => void serve(request, response, options)),
    stop: () => close(server),
  };
}

/** A service made of operations that take and return plain JSON. */
export function jsonService(name: FaultService, version: '1.0' | '1.1', operations: Operations): WireService {
  const headers = { 'content-type': `application/x-amz-json-${version}` };
  return {
    name,
    handle: async ({ operation, body, headers: { 'x-amz-security-token': worker } }) => {
      const run = Object.hasOwn(operations, operation) ? operations[operation] : undefined;
      if (!run) throw new AwsError('UnknownOperationException', `${name} does not know ${operation} here`);
      return { status: 200, headers, body: JSON.stringify((await run(parseInput(body), String(worker))) ?? {}) };
    },
  };
}

export function parseInput(body: Buffer): JsonObject {
  const input = parsedObject(body.toString() || '{}');
  if (!input) throw new AwsError('SerializationException', 'the body is not a JSON object');
  return input;
}

async function serve(request: IncomingMessage, response: ServerResponse, options: WireOptions): Promise<void> {
  const answer = await handle(request, options).catch((error: unknown) => {
    if (error instanceof ConnectionLost) response.destroy();
    else if (!isAbandoned(request)) return failure(error, options);
    return undefined;
  });
  if (!answer) return;
  const type = answer.error === undefined ? {} : { 'x-amzn-errortype': answer.error };
  const { status, headers, body, stream } = answer;
  // With its length, an answer is one chunk and one write.
  const length = stream || status === 204 ? {} : { 'content-length': Buffer.byteLength(body) };
  response.writeHead(status, { ...length, ...headers, ...type, 'x-amzn-requestid': randomUUID() });
  // The client gets an answer although nothing reads the rest of its body.
  request.resume();
  if (!stream) return void response.end(body);
  // A client that leaves early ends the answer.
  await pipeline(stream, response).catch(() => response.destroy());
}

async function handle(request: IncomingMessage, options: WireOptions): Promise<WireResponse> {
  if (!isForLoopback(request)) throw new AwsError('AccessDeniedException', 'only for this machine', 403);
  const { url = '/', headers } = request;
  if (isPresigned(url)) {
    // The caller has a URL, not the credentials: it is not a worker.
    const who = { caller: signerOf(url) ?? '', worker: undefined };
    return callRest(options.s3, streamedRequest(request), who, options);
  }
  const caller = /Credential=([^/,\s]+)\//.exec(headers.authorization ?? '')?.[1];
  // This header also keeps web pages out: a browser sends a preflight request before it sends this one.
  if (caller === undefined) throw new AwsError('MissingAuthenticationTokenException', 'the request is not signed', 403);
  // The session token of a worker is its id.
  const { 'x-amz-security-token': token } = headers;
  const who = { caller, worker: typeof token === 'string' ? token : undefined };
  if (signedService(request) === 's3') return callRest(options.s3, streamedRequest(request), who, options);
  const body = await readBody(request, MAX_BODY_BYTES);
  if (!body) throw new AwsError('RequestEntityTooLargeException', 'the body is too large', 413);
  const form = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded');
  if (form) return callQuery(request, readForm(body), who, options);
  const { path } = targetOf(request);
  const target = request.headers['x-amz-target'];
  const [prefix = '', operation = ''] = typeof target === 'string' ? target.split('.') : [];
  const service = Object.hasOwn(options.services, prefix) ? options.services[prefix] : undefined;
  if (!service && !path.includes('/functions/') && !path.includes('/event-source-mappings')) {
    throw new AwsError('UnknownOperationException', `nothing here answers ${target ?? path}`, 404);
  }
  if (!service) return invoke(request, path, body, who, options);
  const call = { ...who, service: service.name, operation, input: once(() => parseInput(body)) };
  const run = () => service.handle({ operation, caller, headers: request.headers, body });
  return executeCall(call, run, (error) => failure(error, options), options);
}

/** Parses an input once: policies, faults and the call log all read it. */
function once(parse: () => JsonObject): () => JsonObject {
  let parsed: JsonObject | undefined;
  return () => {
    parsed ??= parse();
    return parsed;
  };
}

type Who = Pick<CallFacts, 'caller' | 'worker'>;

function callRest(service: RestService, request: StreamedRequest, who: Who, options: WireOptions) {
  const input = () => service.input(request);
  const call = { ...who, service: service.name, operation: service.operation(request), input };
  const run = () =>
    service.handle(request).catch((error: unknown) => {
      // Without s3:ListBucket, S3 does not say that there is no such key (API reference of GetObject, "Permissions").
      const isSecret = error instanceof AwsError && error.type === 'NoSuchKey';
      throw (isSecret && options.iam.denied({ ...call, operation: 'ListBucket' })) || error;
    });
  return executeCall(call, run, (error) => service.refuse(error, request), options);
}

function callQuery(request: IncomingMessage, form: Record<string, string>, who: Who, options: WireOptions) {
  const named = signedService(request);
  const service = options.query.find(({ name }) => name === named);
  if (service === undefined) throw new AwsError('InvalidAction', `nothing here answers ${named} ${form.Action}`, 404);
  const call = { ...who, service: service.name, operation: form.Action ?? '', input: () => form };
  const run = async () => answerQuery(service, form, who.caller);
  return executeCall(call, run, refuseQuery, options);
}

function invoke(request: IncomingMessage, path: string, body: Buffer, who: Who, options: WireOptions) {
  const run = async (): Promise<WireResponse> => {
    const answer = await options.lambda(restRequest(request, path, body));
    if (!answer) throw new AwsError('UnknownOperationException', `nothing here answers ${request.method} ${path}`, 404);
    return { ...answer, error: answer.headers?.['x-amzn-errortype'] };
  };
  const name = /\/functions\/([^/]+)/.exec(path)?.[1];
  const input = () => ({ FunctionName: decodeURIComponent(name ?? ''), Payload: body.toString() });
  const operation = name === undefined ? `${request.method} EventSourceMapping` : 'Invoke';
  const call = { ...who, service: 'lambda', operation, input } as const;
  return executeCall(call, run, (error) => ({ ...errorResponse(error), error: error.type }), options);
}

const restRequest = (request: IncomingMessage, path: string, body: Buffer): RestRequest => ({
  ...headOf(request, path),
  body,
});

const streamedRequest = (request: IncomingMessage): StreamedRequest => ({
  ...headOf(request, request.url ?? '/'),
  body: piecesOf(request),
});

function headOf({ method = 'GET', headers }: IncomingMessage, path: string): RestHead {
  const single = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  return { method, path, headers: Object.fromEntries(single) };
}

/** The body piece by piece. It leaves the connection open, so that the client gets an answer before the end of it. */
async function* piecesOf(request: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    yield* request.iterator({ destroyOnReturn: false });
  } catch {
    throw new AwsError('RequestTimeout', 'Your socket connection to the server was closed before the end of the body.');
  }
}
