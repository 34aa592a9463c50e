import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { AwsError } from '../aws-error.ts';
import { ConnectionLost, type FaultBench } from '../faults/index.ts';
import type { Lambda } from '../lambda/index.ts';
import { close, isAbandoned, isForLoopback, listen, readBody, targetOf } from '../loopback.ts';
import { partitionOf } from '../partition.ts';
import { type AuthorizeOptions, createAuthorize } from './authorizers.ts';
import { stageUrl } from './deployed-urls.ts';
import { proxyEvent, withAuthorizer } from './event.ts';
import { gatewayAnswer, type Refusal } from './gateway-responses.ts';
import { answerBuffered, answerStreaming, type Exchange } from './integration.ts';
import { type Api, type FunctionRoute, matchRoute } from './routes.ts';

export interface ApiGatewayOptions extends AuthorizeOptions {
  /** The REST API. If undefined, every request gets the answer for an unknown path. */
  readonly api: Api | undefined;
  readonly lambda: Pick<Lambda, 'invoke' | 'invokeStreaming'>;
  readonly port: number;
  /** Paths that lead elsewhere, to URLs. @default none */
  readonly redirects?: ReadonlyMap<string, string>;
  readonly bench: Pick<FaultBench, 'strike'>;
}

const MAX_BODY_BYTES = 10 * 1024 * 1024;

export async function startApiGateway(options: ApiGatewayOptions): Promise<{ url: string; stop(): Promise<void> }> {
  const authorize = createAuthorize(options);
  const server = createServer((request, response) => {
    serve(request, response, { ...options, authorize }).catch((error: unknown) => {
      if (!isAbandoned(request)) options.onError(String(error));
      response.destroy();
    });
  });
  server.keepAliveTimeout = 60_000;
  const url = await listen(server, options.port);
  return { url, stop: () => close(server) };
}

interface ServeContext extends ApiGatewayOptions {
  readonly authorize: ReturnType<typeof createAuthorize>;
}

async function serve(request: IncomingMessage, response: ServerResponse, options: ServeContext): Promise<void> {
  const { api, lambda, bench, onError, authorize } = options;
  const requestId = randomUUID();
  const send = (status: number, headers: OutgoingHttpHeaders, body: string) => {
    // The template contains the URL of the stage on AWS. Clients of this cloud use the host that they named.
    const own = (text: string) => (api ? text.replaceAll(stageUrl(api), `http://${request.headers.host}`) : text);
    const text = own(body);
    const named = Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? own(value) : value,
    ]);
    const length = { 'content-length': Buffer.byteLength(text) };
    response.writeHead(status, { ...Object.fromEntries(named), ...length, ...standardHeaders(requestId) });
    response.end(text);
  };
  // This check comes first: a page of another site must not learn which paths exist.
  if (!isForLoopback(request)) return send(403, { 'content-type': 'application/json' }, '{"message":"Forbidden"}');
  const elsewhere = request.method === 'GET' ? options.redirects?.get(targetOf(request).path) : undefined;
  if (elsewhere !== undefined) return send(302, { location: elsewhere, 'cache-control': 'no-store' }, '');

  const answerBy = (refusal: Omit<Refusal, 'requestId'>, headers: OutgoingHttpHeaders = {}) => {
    const answer = gatewayAnswer(api?.responses ?? new Map(), { ...refusal, requestId });
    send(answer.status, { ...answer.headers, ...headers }, answer.body);
  };
  const refuse: Exchange['refuse'] = (type, status, message, headers) => answerBy({ type, status, message }, headers);
  const route = api && matchRoute(api.routes, request.method ?? 'GET', targetOf(request).path);
  if (!route) return refuseUnknown(refuse);
  const body = await readBody(request, MAX_BODY_BYTES);
  if (!body) return refuse('REQUEST_TOO_LARGE', 413, 'Request Too Long');

  const signed = route.authorization === 'AWS_IAM';
  const accessKey = signed ? accessKeyIn(request) : undefined;
  if (signed && accessKey === undefined) return refuseUnknown(refuse);
  let event = proxyEvent(request, { api, route, body, requestId, at: options.now(), accessKey });
  if (typeof route.authorization === 'object') {
    const verdict = await authorize(route.authorization, event, methodArn(api, event));
    if (!verdict.allowed) return answerBy(verdict);
    event = withAuthorizer(event, verdict.context);
  }
  if (route.mock) return send(route.mock.status, route.mock.headers, route.mock.body);

  const payload = JSON.stringify(event);
  const operation = `${request.method} ${route.resource}`;
  const call = { service: 'apigateway', operation, caller: 'client', input: () => JSON.parse(payload) } as const;
  let worker: string | undefined;
  const strike: Exchange['strike'] = (at) => bench.strike({ ...call, worker }, at);
  const exchange: Omit<Exchange, 'faults'> = {
    route,
    payload,
    response,
    idleMs: api.idleMs,
    refuse,
    onError,
    headers: standardHeaders(requestId),
    onWorker(id) {
      worker = id;
    },
    strike,
  };
  try {
    const faults = (await strike('before')) ?? [];
    if (!mayInvoke(route, api, event.httpMethod, options)) {
      onError(`API Gateway may not invoke the function of ${operation}`);
      return refuse('API_CONFIGURATION_ERROR', 500, 'Internal server error');
    }
    const answer = route.streaming ? answerStreaming : answerBuffered;
    await answer(lambda, { ...exchange, faults });
  } catch (struck) {
    if (struck instanceof ConnectionLost) response.destroy();
    else if (struck instanceof AwsError) refuseStruck(struck, refuse);
    else throw struck;
  }
}

/** Refuses an unknown path, or a request that must be signed and is not. */
function refuseUnknown(refuse: Exchange['refuse']): void {
  const type = { 'x-amzn-errortype': 'MissingAuthenticationTokenException' };
  refuse('MISSING_AUTHENTICATION_TOKEN', 403, 'Missing Authentication Token', type);
}

/** The access key in the signature. No service of this cloud verifies signatures. */
function accessKeyIn({ headers }: IncomingMessage): string | undefined {
  return /^AWS4-HMAC-SHA256 Credential=([^/,\s]+)\/\d{8}\/[^/]+\/execute-api\//.exec(headers.authorization ?? '')?.[1];
}

type Method = Pick<APIGatewayProxyEvent, 'httpMethod' | 'path'>;

function methodArn({ region, account, id, stage }: Api, { httpMethod, path }: Method): string {
  return `arn:${partitionOf(region)}:execute-api:${region}:${account}:${id}/${stage}/${httpMethod}/${path.replace(/^\/+/, '')}`;
}

function mayInvoke(route: FunctionRoute, api: Api, method: string, { iam }: ApiGatewayOptions): boolean {
  const source = methodArn(api, { httpMethod: method, path: route.resource });
  return iam?.mayService('apigateway.amazonaws.com', 'lambda:InvokeFunction', route.functionArn, source) ?? true;
}

function refuseStruck({ status, message }: AwsError, refuse: Exchange['refuse']): void {
  const type = status === 429 ? 'THROTTLED' : `DEFAULT_${status < 500 ? 4 : 5}XX`;
  refuse(type, status, message);
}

function standardHeaders(requestId: string): Record<string, string> {
  return { 'x-amzn-requestid': requestId, 'x-amz-apigw-id': requestId.replaceAll('-', '').slice(0, 15) };
}
