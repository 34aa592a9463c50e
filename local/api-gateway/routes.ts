import { listOf, numberOf, objectOf, stringOf } from '../json.ts';
import type { ResolvedStack, Resource } from '../template/resources.ts';
import { unknownValue } from '../template/resources.ts';
import { type Authorizer, readAuthorizer } from './authorizers.ts';
import { type GatewayResponse, readGatewayResponse } from './gateway-responses.ts';
import { type MockAnswer, readMock } from './mock.ts';

/** One method of a resource of the API. */
export type Route = FunctionRoute | MockRoute;

interface AnyRoute {
  readonly resource: string;
  /** `ANY` or one HTTP method. */
  readonly method: string;
  /** Who may call. @default every caller */
  readonly authorization?: Authorizer | 'AWS_IAM';
}

export interface FunctionRoute extends AnyRoute {
  readonly mock?: never;
  readonly functionArn: string;
  readonly streaming: boolean;
  readonly timeoutMs: number;
}

export interface MockRoute extends AnyRoute {
  readonly mock: MockAnswer;
}

export interface Api {
  readonly id: string;
  readonly region: string;
  readonly account: string;
  readonly stage: string;
  readonly routes: readonly Route[];
  /** The gateway responses by type, such as `UNAUTHORIZED` or `DEFAULT_5XX`. */
  readonly responses: ReadonlyMap<string, GatewayResponse>;
  readonly idleMs: number;
}

/** The REST API of the assembly, if it has one. */
export function readApi(stacks: readonly ResolvedStack[]): Api | undefined {
  const resources = stacks.flatMap((stack) => stack.resources);
  const api = onlyOne('AWS::ApiGateway::RestApi', resources);
  if (!api) return undefined;
  const id = api.ref ?? '';
  const stage = onlyOne('AWS::ApiGateway::Stage', resources);
  const regional = listOf(objectOf(api.properties.EndpointConfiguration).Types).includes('REGIONAL');
  const ofType = (type: string) => resources.filter((resource) => resource.type === type);
  const paths = resourcePaths(`${id}-root`, ofType('AWS::ApiGateway::Resource'));
  const authorizers = new Map(ofType('AWS::ApiGateway::Authorizer').map((one) => [one.ref, readAuthorizer(one)]));
  return {
    id,
    region: api.region,
    account: api.account,
    stage: stage?.name ?? 'local',
    routes: ofType('AWS::ApiGateway::Method').map((method) => readRoute(method, paths, authorizers)),
    responses: new Map(ofType('AWS::ApiGateway::GatewayResponse').map(readGatewayResponse)),
    // An edge-optimized API closes a silent stream ten times sooner.
    idleMs: regional ? 300_000 : 30_000,
  };
}

/** Refuses a second resource of the type: this cloud serves one API and one stage. */
function onlyOne(type: string, resources: readonly Resource[]): Resource | undefined {
  const [first, second] = resources.filter((resource) => resource.type === type);
  if (second) throw new Error(`the embedded cloud does not know a second ${type} ${second.where}`);
  return first;
}

function resourcePaths(root: string, resources: readonly Resource[]): (id: string) => string | undefined {
  const byId = new Map(resources.map((resource) => [resource.ref, resource.properties]));
  const pathOf = (id: string): string | undefined => {
    if (id === root) return '';
    const properties = byId.get(id);
    return properties && `${pathOf(String(properties.ParentId))}/${properties.PathPart}`;
  };
  return (id) => pathOf(id) || (id === root ? '/' : undefined);
}

function readRoute(
  resource: Resource,
  pathOf: (id: string) => string | undefined,
  authorizers: ReadonlyMap<string | undefined, Authorizer>,
): Route {
  const { HttpMethod, ResourceId, ApiKeyRequired = false, Integration } = resource.properties;
  // This cloud has no API keys.
  if (ApiKeyRequired !== false) throw unknownValue(resource, 'ApiKeyRequired', ApiKeyRequired);
  const path = pathOf(String(ResourceId));
  if (path === undefined) throw unknownValue(resource, 'ResourceId', ResourceId);
  // A greedy part, of several segments, is not known here.
  if (path.includes('+}')) throw unknownValue(resource, 'ResourceId', path);
  const authorization = readAuthorization(resource, authorizers);
  const base = {
    resource: path,
    method: String(HttpMethod),
    ...(authorization && { authorization }),
  };
  const { Type } = objectOf(Integration);
  if (Type === 'MOCK') return { ...base, mock: readMock(resource) };
  if (Type !== 'AWS_PROXY') throw unknownValue(resource, 'Integration.Type', Type);
  return { ...base, ...readProxy(resource) };
}

function readAuthorization(
  resource: Resource,
  authorizers: ReadonlyMap<string | undefined, Authorizer>,
): AnyRoute['authorization'] {
  const { AuthorizationType = 'NONE', AuthorizerId } = resource.properties;
  if (AuthorizationType === 'NONE') return undefined;
  if (AuthorizationType === 'AWS_IAM') return 'AWS_IAM';
  if (AuthorizationType !== 'CUSTOM') throw unknownValue(resource, 'AuthorizationType', AuthorizationType);
  const authorizer = authorizers.get(String(AuthorizerId));
  if (authorizer === undefined) throw unknownValue(resource, 'AuthorizerId', AuthorizerId);
  return authorizer;
}

function readProxy(resource: Resource): Pick<FunctionRoute, 'functionArn' | 'streaming' | 'timeoutMs'> {
  const { Uri, TimeoutInMillis, ResponseTransferMode = 'BUFFERED' } = objectOf(resource.properties.Integration);
  const uri = /functions\/(.+)\/(invocations|response-streaming-invocations)$/.exec(stringOf(Uri) ?? '');
  if (!uri?.[1]) throw unknownValue(resource, 'Integration.Uri', Uri);
  const streaming = uri[2] === 'response-streaming-invocations';
  // AWS refuses to mix them too.
  if (streaming !== (ResponseTransferMode === 'STREAM')) throw unknownValue(resource, 'Integration.Uri', Uri);
  return { functionArn: uri[1], streaming, timeoutMs: numberOf(TimeoutInMillis) ?? 29_000 };
}

/**
 * Finds the route for a request: one method wins over ANY. The path alone picks the resource; a literal path wins over one with
 * parameters.
 */
export function matchRoute(routes: readonly Route[], method: string, path: string): Route | undefined {
  const fitting = routes.filter(({ resource }) => parametersIn(resource, path) !== undefined);
  const literal = fitting.filter(({ resource }) => !resource.includes('{'));
  const ofPath = literal.length > 0 ? literal : fitting;
  return ofPath.find((route) => route.method === method) ?? ofPath.find((route) => route.method === 'ANY');
}

/** The parameters of a path by name. Undefined: the path is of another resource. */
export function parametersIn(resource: string, path: string): Readonly<Record<string, string>> | undefined {
  const [names, parts] = [segmentsOf(resource), segmentsOf(path)];
  if (names.length !== parts.length) return undefined;
  const pairs = names.map((name, i) => [/^\{(.+)\}$/.exec(name)?.[1], name, parts[i] ?? ''] as const);
  if (!pairs.every(([parameter, name, part]) => parameter !== undefined || name === part)) return undefined;
  return Object.fromEntries(pairs.flatMap(([parameter, , part]) => (parameter ? [[parameter, decoded(part)]] : [])));
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const segmentsOf = (path: string): string[] => path.split('/').filter((segment) => segment !== '');
