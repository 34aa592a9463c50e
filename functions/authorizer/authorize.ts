import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
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
}

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/**
 * Who calls, from the token alone (G-02, G-03). The answer is kept for a while, for every request with that token: so
 * nothing else of this one may decide here.
 *
 * Except at the challenge: API Gateway renames the `WWW-Authenticate` of a function (G-17), so the endpoint sends
 * callers there whose token has expired, or is not enough for a tool. Nobody is let in: the refusal is what they need.
 */
export async function authorize(
  event: APIGatewayRequestAuthorizerEvent,
  { verify, scopes, toolScopes, metadata }: AuthorizerWorld,
): Promise<APIGatewayAuthorizerResult> {
  const token = tokenOf(event);
  const caller = token === undefined ? undefined : await verify(token);
  // The very word that API Gateway takes for a 401.
  if (caller === undefined) throw new Error('Unauthorized');
  const challenged = event.resource.endsWith(`/${CHALLENGE}`);
  const tool = challenged ? (event.queryStringParameters?.tool ?? '') : '';
  const needed = [...new Set([...scopes, ...(Object.hasOwn(toolScopes, tool) ? (toolScopes[tool] ?? []) : [])])];
  const allowed = !challenged && sufficient(needed, caller.scopes);
  const stage = event.methodArn.split('/').slice(0, 2).join('/');
  return {
    principalId: caller.owner,
    policyDocument: {
      Version: '2012-10-17',
      Statement: [{ Effect: allowed ? 'Allow' : 'Deny', Action: 'execute-api:Invoke', Resource: `${stage}/*` }],
    },
    context: allowed
      ? { owner: caller.owner, scope: caller.scopes.join(' '), expires: caller.expires }
      : { challenge: challenge(metadata, needed, 'insufficient_scope') },
  };
}

/** Of the one Authorization header: with two of them, who knows which one the answer would be kept for. */
function tokenOf({ headers, multiValueHeaders }: APIGatewayRequestAuthorizerEvent): string | undefined {
  const sent = Object.entries(multiValueHeaders ?? headers ?? {}).flatMap(([name, values]) =>
    name.toLowerCase() === 'authorization' ? (values ?? []) : [],
  );
  return sent.length === 1 ? BEARER.exec(sent[0] ?? '')?.[1] : undefined;
}
