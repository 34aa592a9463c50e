import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import { proxyEvent } from './api-event.ts';
import { answerBuffered, answerStreaming, type Exchange } from './api-integration.ts';
import { type Api, matchRoute } from './api-routes.ts';
import { AwsError } from './aws-error.ts';
import { ConnectionLost, type FaultBench } from './faults/index.ts';
import { gatewayAnswer } from './gateway-responses.ts';
import type { Lambda } from './lambda/index.ts';
import { close, isAbandoned, isForLoopback, listen, readBody, targetOf } from './loopback.ts';

export interface ApiGatewayOptions {
  /** Without one, every request is answered as for an unknown path. */
  readonly api: Api | undefined;
  readonly lambda: Pick<Lambda, 'invoke' | 'invokeStreaming'>;
  readonly port: number;
  readonly bench: Pick<FaultBench, 'strike'>;
  readonly now: () => number;
  readonly onError: (message: string) => void;
}

const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** The REST front door, on 127.0.0.1. */
export async function startApiGateway(options: ApiGatewayOptions): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    serve(request, response, options).catch((error: unknown) => {
      if (!isAbandoned(request)) options.onError(String(error));
      response.destroy();
    });
  });
  server.keepAliveTimeout = 60_000;
  const url = await listen(server, options.port);
  return { url, stop: () => close(server) };
}

async function serve(request: IncomingMessage, response: ServerResponse, options: ApiGatewayOptions): Promise<void> {
  const { api, lambda, bench, onError } = options;
  const requestId = randomUUID();
  const send = (status: number, headers: OutgoingHttpHeaders, body: string) => {
    const length = { 'content-length': Buffer.byteLength(body) };
    response.writeHead(status, { ...headers, ...length, ...standardHeaders(requestId) });
    response.end(body);
  };
  // Before anything else: a page of another site must not even learn which paths there are.
  if (!isForLoopback(request)) return send(403, { 'content-type': 'application/json' }, '{"message":"Forbidden"}');

  const refuse: Exchange['refuse'] = (type, status, message, headers = {}) => {
    const answer = gatewayAnswer(api?.responses ?? new Map(), { type, status, message, requestId });
    send(answer.status, { ...answer.headers, ...headers }, answer.body);
  };
  const match = api && matchRoute(api.routes, request.method ?? 'GET', targetOf(request).path);
  if (!match) {
    const type = { 'x-amzn-errortype': 'MissingAuthenticationTokenException' };
    return refuse('MISSING_AUTHENTICATION_TOKEN', 403, 'Missing Authentication Token', type);
  }
  const body = await readBody(request, MAX_BODY_BYTES);
  if (!body) return refuse('REQUEST_TOO_LARGE', 413, 'Request Too Long');

  const payload = JSON.stringify(proxyEvent(request, { api, match, body, requestId, at: options.now() }));
  const { route } = match;
  const operation = `${request.method} ${route.resource}`;
  const call = { service: 'apigateway', operation, caller: 'client', input: () => JSON.parse(payload) } as const;
  let worker: string | undefined;
  const exchange: Exchange = {
    ...{ route, payload, response, idleMs: api.idleMs, refuse, onError },
    headers: standardHeaders(requestId),
    onWorker(id) {
      worker = id;
    },
    strike: (at) => bench.strike({ ...call, worker }, at),
  };
  try {
    await exchange.strike('before');
    await (route.streaming ? answerStreaming(lambda, exchange) : answerBuffered(lambda, exchange));
  } catch (struck) {
    if (struck instanceof ConnectionLost) response.destroy();
    else if (struck instanceof AwsError) refuseStruck(struck, refuse);
    else throw struck;
  }
}

function refuseStruck({ status, message }: AwsError, refuse: Exchange['refuse']): void {
  const type = status === 429 ? 'THROTTLED' : `DEFAULT_${status < 500 ? 4 : 5}XX`;
  refuse(type, status, message);
}

function standardHeaders(requestId: string): Record<string, string> {
  return { 'x-amzn-requestid': requestId, 'x-amz-apigw-id': requestId.replaceAll('-', '').slice(0, 15) };
}
