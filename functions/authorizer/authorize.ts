import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import type { Audit } from '../tasks/audit.ts';
import { CHALLENGE, challenge } from './challenge.ts';
import { sufficient } from './scopes.ts';
import type { Verify } from './verify.ts';

export interface AuthorizerWorld {
  readonly verify: Verify;
  /** What every call needs. */
  readonly scopes: readonly string[];
  /** What calls of a tool need besides, by its name. */
  readonly toolScopes: Readonly<Record<string, readonly string[]>>;
  /** Where the metadata of the protected resource is (RFC 9728). */
  readonly metadata: string;
  readonly audit: Audit;
}

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/**
 * Who calls, from the token alone (G-02, G-03). The answer is kept for a while, for every request with that token: so
 * nothing else of this one may decide here.
 *
 * Who brings no token gets API Gateway's own 401. A bad token is denied, which the template answers with a 401 that says
 * so (G-08). One that lacks a scope is let in: the endpoint sends its caller on to the challenge, like callers whose
 * token has expired meanwhile or is not enough for a tool, since API Gateway renames the `WWW-Authenticate` of a function
 * (G-17). There nobody gets any further, and the refusal is what they need.
 */
export async function authorize(
  event: APIGatewayRequestAuthorizerEvent,
  { verify, scopes, toolScopes, metadata, audit }: AuthorizerWorld,
): Promise<APIGatewayAuthorizerResult> {
  const sent = authorizationOf(event);
  if (sent === undefined || !/^Bearer\b/i.test(sent)) {
    audit('denied', { reason: 'no_token' });
    throw new Error(UNAUTHORIZED);
  }
  const token = BEARER.exec(sent)?.[1];
  const caller = token === undefined ? 'invalid' : await verify(token);
  if (typeof caller === 'string') audit('denied', { reason: caller === 'invalid' ? 'invalid_token' : 'unknown_token' });
  if (caller === 'unknown yet') throw new Error(UNAUTHORIZED);
  const stage = event.methodArn.split('/').slice(0, 2).join('/');
  const policy = (Effect: 'Allow' | 'Deny') => ({
    Version: '2012-10-17',
    Statement: [{ Effect, Action: 'execute-api:Invoke', Resource: `${stage}/*` }],
  });
  if (caller === 'invalid') return { principalId: 'nobody', policyDocument: policy('Deny') };
  const { owner, scopes: granted, expires } = caller;
  const tool = event.queryStringParameters?.tool ?? '';
  const more = Object.hasOwn(toolScopes, tool) ? (toolScopes[tool] ?? []) : [];
  return {
    principalId: owner,
    policyDocument: policy('Allow'),
    context: event.resource.endsWith(`/${CHALLENGE}`)
      ? { challenge: challenge(metadata, [...new Set([...scopes, ...more])], 'insufficient_scope') }
      : { owner, scope: granted.join(' '), expires, enough: sufficient(scopes, granted) },
  };
}

/** The very word that API Gateway takes for a 401, which it does not keep. */
const UNAUTHORIZED = 'Unauthorized';

/** The one Authorization header: with two of them, who knows which one the answer would be kept for? */
function authorizationOf({ headers, multiValueHeaders }: APIGatewayRequestAuthorizerEvent): string | undefined {
  const sent = Object.entries(multiValueHeaders ?? headers ?? {}).flatMap(([name, values]) =>
    name.toLowerCase() === 'authorization' ? (values ?? []) : [],
  );
  return sent.length === 1 ? sent[0]?.trim() : undefined;
}
