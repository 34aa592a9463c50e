import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { AwsError } from '../aws-error.ts';
import type { Fault, FaultBench, FaultPoint } from '../faults/index.ts';
import { isObject, type JsonObject, listOf, objectOf, parsedObject } from '../json.ts';
import type { Lambda } from '../lambda/index.ts';
import type { FunctionRoute } from './routes.ts';

/** One request on its way through a proxy integration. */
export interface Exchange {
  readonly route: FunctionRoute;
  readonly payload: string;
  readonly response: ServerResponse;
  readonly idleMs: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Sends an answer in place of the function's. */
  refuse(type: string, status: number, message: string, headers?: OutgoingHttpHeaders): void;
  onError(message: string): void;
  onWorker(workerId: string): void;
  strike(at: FaultPoint): ReturnType<FaultBench['strike']>;
  /** The faults that struck it before it began. */
  readonly faults: readonly Fault[];
}

/** Sends the answer of the function as a whole. */
export async function answerBuffered(lambda: Pick<Lambda, 'invoke'>, exchange: Exchange): Promise<void> {
  const { route, payload, response, refuse, onError, onWorker } = exchange;
  const result = await withinTimeout(lambda.invoke(route.functionArn, payload, { onWorker }), exchange);
  if (!result) return;
  await exchange.strike('after');
  const answer = result.functionError ? undefined : parsedObject(result.payload);
  if (!Number.isInteger(Number(answer?.statusCode ?? 'none')) || !answer) {
    onError(`the function of ${route.method} ${route.resource} did not answer as a proxy must: ${result.payload}`);
    return refuse('DEFAULT_5XX', 502, 'Internal server error');
  }
  const body = typeof answer.body === 'string' ? answer.body : '';
  const length = { 'content-length': Buffer.byteLength(body) };
  if (writeHead(exchange, Number(answer.statusCode), { ...outgoing(headersOf(answer)), ...length })) response.end(body);
}

/** Streams the answer of the function: each chunk is sent when it arrives. */
export async function answerStreaming(lambda: Pick<Lambda, 'invokeStreaming'>, exchange: Exchange): Promise<void> {
  const { route, payload, response, onWorker, faults } = exchange;
  const started = performance.now();
  const options = { onWorker, holdsChunks: faults.includes('holdChunks') };
  const result = await withinTimeout(lambda.invokeStreaming(route.functionArn, payload, options), exchange);
  if (!result) return;
  const { statusCode, headers, cookies, body } = result;
  await exchange.strike('after')?.catch((struck: unknown) => {
    body.destroy();
    throw struck;
  });
  if (response.destroyed) return void body.destroy();
  const setCookie = cookies === undefined ? {} : { 'set-cookie': cookies };
  if (!writeHead(exchange, statusCode, { ...outgoing(headers), ...setCookie })) return void body.destroy();
  // If the first chunk is already there, the headers go out with it, in one write.
  setImmediate(() => {
    if (!response.writableEnded) response.flushHeaders();
  });
  pump(body, response, exchange, route.timeoutMs - (performance.now() - started));
}

/** Writes the head. If HTTP does not allow the status or a header, sends an error to the client and returns false. */
function writeHead(
  { response, headers, refuse, onError }: Exchange,
  status: number,
  own: OutgoingHttpHeaders,
): boolean {
  try {
    response.writeHead(status, { ...own, ...headers });
    return true;
  } catch (error) {
    onError(`a function answered with what HTTP does not know: ${String(error)}`);
    refuse('DEFAULT_5XX', 502, 'Internal server error');
    return false;
  }
}

function pump(body: Readable, response: ServerResponse, exchange: Exchange, leftMs: number): void {
  const { idleMs, onError, strike, faults } = exchange;
  const cutStream = (why: string) => () => {
    onError(`a stream was cut: ${why}`);
    response.destroy();
  };
  const idle = setTimeout(cutStream('it was silent for too long'), idleMs);
  const deadline = setTimeout(cutStream('it took longer than the integration may'), leftMs);
  let isEmpty = true;
  body.on('data', (chunk: Buffer) => {
    isEmpty = false;
    idle.refresh();
    if (!response.write(chunk)) body.pause();
  });
  body.once('data', () => {
    const struck = strike('midway');
    if (!struck) return;
    body.pause();
    struck.then(
      () => body.resume(),
      (error: unknown) => cutStream(String(error))(),
    );
  });
  response.on('drain', () => body.resume());
  const lateness = faults.flatMap((fault) =>
    typeof fault === 'object' && 'emptyEndsAfterMs' in fault ? fault.emptyEndsAfterMs : [],
  );
  body.on('end', () => {
    if (isEmpty && lateness.length > 0) setTimeout(() => response.end(), Math.max(...lateness)).unref();
    else response.end();
  });
  body.on('error', (error) => cutStream(String(error))());
  response.on('close', () => {
    clearTimeout(idle);
    clearTimeout(deadline);
    // As in AWS, the function does not notice that its client is gone: it keeps running, and its output is dropped.
    body.destroy();
  });
}

/** The result; undefined if the client already got an error because the function failed or took too long. */
async function withinTimeout<T>(
  result: Promise<T>,
  { route, idleMs, refuse, onError }: Exchange,
): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<'late'>();
  const timer = setTimeout(() => resolve('late'), Math.min(route.timeoutMs, idleMs));
  try {
    const first = await Promise.race([result, late]);
    if (first !== 'late') return first;
    result.then(discard, () => undefined);
    refuse('INTEGRATION_TIMEOUT', 504, 'Endpoint request timed out');
  } catch (error) {
    onError(`the function of ${route.method} ${route.resource} failed: ${String(error)}`);
    refuseFailure(error, refuse);
  } finally {
    clearTimeout(timer);
  }
  return undefined;
}

function refuseFailure(error: unknown, refuse: Exchange['refuse']): void {
  const type = error instanceof AwsError ? error.type : '';
  // Lambda takes 6 MB, less than API Gateway.
  if (type === 'RequestTooLargeException') refuse('REQUEST_TOO_LARGE', 413, 'Request Too Long');
  else refuse('DEFAULT_5XX', type === 'TooManyRequestsException' ? 500 : 502, 'Internal server error');
}

/** Drops an answer that arrives too late, so that its function does not wait for a reader. */
function discard(result: unknown): void {
  const { body } = objectOf(result);
  if (isObject(body) && 'destroy' in body) (body as unknown as Readable).destroy();
}

function headersOf(answer: JsonObject): OutgoingHttpHeaders {
  const single = Object.entries(objectOf(answer.headers)).map(([name, value]) => [name, String(value)]);
  const multi = Object.entries(objectOf(answer.multiValueHeaders)).map(([name, values]) => [
    name,
    listOf(values).map(String),
  ]);
  return { 'content-type': 'application/json', ...Object.fromEntries([...single, ...multi]) };
}

// What API Gateway does with headers of a function ("Amazon API Gateway important notes"): it overwrites these …
const DROPPED = new Set(['connection', 'content-length', 'keep-alive', 'transfer-encoding', 'trailer', 'upgrade']);
// … and renames these, so a client never sees WWW-Authenticate.
const REMAPPED = new Set(['authorization', 'date', 'host', 'max-forwards', 'server', 'user-agent', 'www-authenticate']);

function outgoing(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  const entries = Object.entries(headers).flatMap(([name, value]): [string, OutgoingHttpHeaders[string]][] => {
    const lower = name.toLowerCase();
    if (DROPPED.has(lower)) return [];
    return [[REMAPPED.has(lower) ? `x-amzn-Remapped-${lower}` : lower, value]];
  });
  return Object.fromEntries(entries);
}
