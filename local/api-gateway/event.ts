import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { targetOf } from '../loopback.ts';
import { partitionOf } from '../partition.ts';
import type { AuthorizerContext } from './authorizers.ts';
import { type Api, parametersIn, type Route } from './routes.ts';

export interface RoutedRequest {
  readonly api: Api;
  readonly route: Route;
  readonly body: Buffer;
  readonly requestId: string;
  readonly at: number;
  /** The access key that signed the request, if the route requires one. */
  readonly accessKey?: string | undefined;
}

/** Builds the event of a proxy integration (payload version 1.0), as behind a custom domain with an empty base path. */
export function proxyEvent(request: IncomingMessage, routed: RoutedRequest): APIGatewayProxyEvent {
  const { path, query } = targetOf(request);
  const multiValueHeaders = headersOf(request);
  const multiValueQuery = queryOf(new URLSearchParams(query));
  const { route, body } = routed;
  const parameters = parametersIn(route.resource, path) ?? {};
  return {
    resource: route.resource,
    path,
    httpMethod: request.method ?? 'GET',
    headers: lastOf(multiValueHeaders),
    multiValueHeaders,
    queryStringParameters: multiValueQuery && lastOf(multiValueQuery),
    multiValueQueryStringParameters: multiValueQuery,
    pathParameters: Object.keys(parameters).length > 0 ? parameters : null,
    stageVariables: null,
    requestContext: requestContext(request, path, routed),
    // No binary media types are configured: every body is text.
    body: body.length > 0 ? body.toString('utf8') : null,
    isBase64Encoded: false,
  };
}

function requestContext(
  request: IncomingMessage,
  path: string,
  { api, route, requestId, at, accessKey }: RoutedRequest,
): APIGatewayProxyEvent['requestContext'] {
  const { resource } = route;
  const domainName = (request.headers.host ?? '').replace(/:\d+$/, '');
  return {
    accountId: api.account,
    apiId: api.id,
    authorizer: undefined,
    domainName,
    domainPrefix: domainName.split('.')[0] ?? '',
    extendedRequestId: requestId,
    httpMethod: request.method ?? 'GET',
    identity: { ...identityOf(request), ...(accessKey !== undefined && signerOf(accessKey, api)) },
    path,
    protocol: `HTTP/${request.httpVersion}`,
    requestId,
    requestTime: requestTime(new Date(at)),
    requestTimeEpoch: at,
    resourceId: resource,
    resourcePath: resource,
    stage: api.stage,
  };
}

function identityOf(request: IncomingMessage): APIGatewayProxyEvent['requestContext']['identity'] {
  const unsigned = { accessKey: null, accountId: null, apiKey: null, apiKeyId: null, caller: null, clientCert: null };
  const noCognito = {
    cognitoAuthenticationProvider: null,
    cognitoAuthenticationType: null,
    cognitoIdentityId: null,
    cognitoIdentityPoolId: null,
  };
  const sourceIp = request.socket.remoteAddress ?? '127.0.0.1';
  const userAgent = request.headers['user-agent'] ?? null;
  return { ...unsigned, ...noCognito, principalOrgId: null, sourceIp, user: null, userAgent, userArn: null };
}

/** The caller of a signed request: in this cloud every access key is a user of that name. */
function signerOf(accessKey: string, { account, region }: Api) {
  const userArn = `arn:${partitionOf(region)}:iam::${account}:user/${accessKey}`;
  return { accessKey, accountId: account, caller: accessKey, user: accessKey, userArn };
}

/** Adds what the authorizer returned to the event of the integration. */
export function withAuthorizer(event: APIGatewayProxyEvent, context: AuthorizerContext): APIGatewayProxyEvent {
  const authorizer = { ...context, integrationLatency: 0 };
  return { ...event, requestContext: { ...event.requestContext, authorizer } };
}

/** The headers, with names as the client sent them, and the ones that API Gateway adds. */
function headersOf(request: IncomingMessage): Record<string, string[]> {
  const headers = new Map<string, { name: string; values: string[] }>();
  const add = (name: string, value: string): void => {
    const known = headers.get(name.toLowerCase());
    if (known) known.values.push(value);
    else headers.set(name.toLowerCase(), { name, values: [value] });
  };
  for (let index = 0; index + 1 < request.rawHeaders.length; index += 2) {
    add(request.rawHeaders[index] ?? '', request.rawHeaders[index + 1] ?? '');
  }
  add('X-Forwarded-For', request.socket.remoteAddress ?? '127.0.0.1');
  add('X-Forwarded-Port', String(request.socket.localPort));
  add('X-Forwarded-Proto', 'http');
  return Object.fromEntries([...headers.values()].map(({ name, values }) => [name, values]));
}

function queryOf(parameters: URLSearchParams): Record<string, string[]> | null {
  const names = [...new Set(parameters.keys())];
  return names.length > 0 ? Object.fromEntries(names.map((name) => [name, parameters.getAll(name)])) : null;
}

function lastOf(values: Record<string, string[]>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, all]) => [name, all.at(-1) ?? '']));
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `09/Apr/2015:12:34:56 +0000` */
function requestTime(date: Date): string {
  const day = [String(date.getUTCDate()).padStart(2, '0'), MONTHS[date.getUTCMonth()], date.getUTCFullYear()];
  return `${day.join('/')}:${date.toISOString().slice(11, 19)} +0000`;
}
