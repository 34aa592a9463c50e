import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { Iam } from '../iam/index.ts';
import { isLike } from '../iam/patterns.ts';
import { isObject, type JsonObject, numberOf, objectOf, stringOf } from '../json.ts';
import type { Lambda } from '../lambda/index.ts';
import type { Resource } from '../template/resources.ts';
import { unknownValue } from '../template/resources.ts';

/** A Lambda authorizer of type REQUEST. */
export interface Authorizer {
  readonly id: string;
  readonly functionArn: string;
  /** Names of the request headers that identify the caller, in lower case. */
  readonly identity: readonly string[];
  /** How long an answer is cached for the same identity; 0 caches nothing. */
  readonly ttlMs: number;
}

/** The verdict of an authorizer, and what it passes to the integration. */
export type AuthorizerContext = Readonly<Record<string, string>>;

export type AuthorizerVerdict =
  | { readonly allowed: true; readonly context: AuthorizerContext }
  | {
      readonly allowed: false;
      readonly type: string;
      readonly status: number;
      readonly message: string;
    };

const HEADER = 'method.request.header.';

export function readAuthorizer(resource: Resource): Authorizer {
  const { Type, AuthorizerUri, IdentitySource, AuthorizerResultTtlInSeconds } = resource.properties;
  if (Type !== 'REQUEST') throw unknownValue(resource, 'Type', Type);
  const functionArn = /functions\/(.+)\/invocations$/.exec(stringOf(AuthorizerUri) ?? '')?.[1];
  if (functionArn === undefined) throw unknownValue(resource, 'AuthorizerUri', AuthorizerUri);
  const sources = (stringOf(IdentitySource) ?? '').split(',').filter((source) => source !== '');
  if (!sources.every((source) => source.startsWith(HEADER))) {
    throw unknownValue(resource, 'IdentitySource', IdentitySource);
  }
  return {
    id: resource.ref ?? '',
    functionArn,
    identity: sources.map((source) => source.slice(HEADER.length).toLowerCase()),
    ttlMs: (numberOf(AuthorizerResultTtlInSeconds) ?? 300) * 1_000,
  };
}

export interface AuthorizeOptions {
  readonly lambda: Pick<Lambda, 'invoke'>;
  /** @default every call is allowed */
  readonly iam?: Pick<Iam, 'mayService'>;
  readonly now: () => number;
  readonly onError: (message: string) => void;
}

interface CachedPolicy {
  readonly policy: readonly JsonObject[];
  readonly context: AuthorizerContext;
  readonly until: number;
}

const UNAUTHORIZED = { allowed: false, type: 'UNAUTHORIZED', status: 401, message: 'Unauthorized' } as const;
const FAILURE = { allowed: false, status: 500, message: 'Internal server error' } as const;

/** Invokes authorizers, and caches their answers for the time that the template says. */
export function createAuthorize({ lambda, iam, now, onError }: AuthorizeOptions) {
  const mayInvokeAuthorizer = ({ id, functionArn }: Authorizer, methodArn: string): boolean => {
    const source = methodArn.replace(/\/.*$/, `/authorizers/${id}`);
    return iam?.mayService('apigateway.amazonaws.com', 'lambda:InvokeFunction', functionArn, source) ?? true;
  };
  const caches = new Map<Authorizer, Map<string, CachedPolicy>>();

  return async (authorizer: Authorizer, event: APIGatewayProxyEvent, methodArn: string): Promise<AuthorizerVerdict> => {
    const { body: _body, isBase64Encoded: _encoded, ...request } = event;
    const sent = new Map(Object.entries(event.headers).map(([name, value]) => [name.toLowerCase(), value]));
    const identity = authorizer.identity.map((name) => sent.get(name) ?? '');
    // A request without an identity header gets 401, and the authorizer is not invoked.
    if (identity.includes('')) return UNAUTHORIZED;
    const cache = caches.get(authorizer) ?? new Map<string, CachedPolicy>();
    caches.set(authorizer, cache);
    const key = JSON.stringify(identity);
    const cached = cache.get(key);
    if (cached !== undefined && cached.until > now()) return judge(cached, methodArn);

    if (!mayInvokeAuthorizer(authorizer, methodArn)) {
      onError('API Gateway may not invoke the function of an authorizer');
      return { ...FAILURE, type: 'AUTHORIZER_CONFIGURATION_ERROR' };
    }
    const asked = JSON.stringify({ type: 'REQUEST', methodArn, ...request });
    const result = await lambda.invoke(authorizer.functionArn, asked).catch((error: unknown) => {
      onError(`an authorizer could not be asked: ${error}`);
    });
    // Mostly throttling.
    if (!result) return { ...FAILURE, type: 'AUTHORIZER_FAILURE' };
    if (result.functionError !== undefined) {
      const { errorMessage } = objectOf(JSON.parse(result.payload));
      if (errorMessage === 'Unauthorized') return UNAUTHORIZED;
      onError(`an authorizer failed: ${result.payload}`);
      return { ...FAILURE, type: 'AUTHORIZER_FAILURE' };
    }
    const answer = readAnswer(result.payload);
    if (answer === undefined) {
      onError(`an authorizer did not answer as it must: ${result.payload}`);
      return { ...FAILURE, type: 'AUTHORIZER_CONFIGURATION_ERROR' };
    }
    const known = { ...answer, until: now() + authorizer.ttlMs };
    if (authorizer.ttlMs > 0) cache.set(key, known);
    return judge(known, methodArn);
  };
}

/** The policy and the context of an answer; undefined if API Gateway refuses it, or this cloud does not know it. */
function readAnswer(payload: string): Pick<CachedPolicy, 'policy' | 'context'> | undefined {
  const { principalId, policyDocument, context = {} } = objectOf(JSON.parse(payload));
  const policy = [objectOf(policyDocument).Statement].flat().map(objectOf);
  const readable = policy.every(
    ({ Effect, Action, Resource, ...rest }) =>
      (Effect === 'Allow' || Effect === 'Deny') &&
      Action !== undefined &&
      Resource !== undefined &&
      Object.keys(rest).every((name) => name === 'Sid'),
  );
  // API Gateway refuses objects and lists too.
  if (typeof principalId !== 'string' || !readable || !isObject(context)) return undefined;
  if (Object.values(context).some((value) => typeof value === 'object')) return undefined;
  const values = Object.entries({ principalId, ...context }).map(([name, value]) => [name, String(value)]);
  return { policy, context: Object.fromEntries(values) };
}

/** Judges as IAM does: an explicit deny wins, and what no statement allows is denied. */
function judge({ policy, context }: CachedPolicy, methodArn: string): AuthorizerVerdict {
  const effects = policy
    .filter(({ Action, Resource }) => covers(Action, 'execute-api:Invoke') && covers(Resource, methodArn))
    .map(({ Effect }) => Effect);
  if (effects.includes('Allow') && !effects.includes('Deny')) return { allowed: true, context };
  const why = effects.includes('Deny') ? ' with an explicit deny' : '';
  const message = `User is not authorized to access this resource${why}`;
  return { allowed: false, type: 'ACCESS_DENIED', status: 403, message };
}

/** Whether one of the patterns matches. */
function covers(patterns: unknown, value: string): boolean {
  return [patterns].flat().some((pattern) => isLike(value.toLowerCase(), String(pattern).toLowerCase()));
}
