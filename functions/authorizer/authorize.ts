import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import type { Audit } from '../tasks/audit.ts';
import { logEvent } from '../tasks/log.ts';
import { callerText } from './caller-text.ts';
import { decodeHeaderValue } from './header-value.ts';
import { sufficient } from './scopes.ts';
import type { Verify } from './verify.ts';

export interface AuthorizerContext {
  readonly verify: Verify;
  /** The scopes that every call needs. */
  readonly scopes: readonly string[];
  /** The scopes that a call of a tool needs, including `scopes`, by the tool's name. Tools without scopes are left out. */
  readonly toolScopes: Readonly<Record<string, readonly string[]>>;
  readonly audit: Audit;
}

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/**
 * Identifies the caller by the access token (G-02, G-03), and checks the scopes of the token (G-09). The template shapes
 * both refusals: {@link Unauthorized} becomes the 401, a Deny becomes the 403.
 *
 * A 2026-07-28 call names its tool in the headers. They may be wrong: the endpoint compares them with the body. API
 * Gateway caches answers only if no tool has scopes, so the headers may decide.
 */
export async function authorize(
  event: APIGatewayRequestAuthorizerEvent,
  { verify, scopes, toolScopes, audit }: AuthorizerContext,
): Promise<APIGatewayAuthorizerResult> {
  const [sent, ...more] = valuesOf(event, 'authorization');
  // Two headers could name two callers.
  if (sent === undefined || more.length > 0 || !/^Bearer\b/i.test(sent)) {
    audit('denied', { reason: 'no_token' });
    throw new Unauthorized();
  }
  const token = BEARER.exec(sent.trim())?.[1];
  const caller = token === undefined ? 'invalid' : await verify(token);
  if (typeof caller === 'string') {
    audit('denied', { reason: caller === 'invalid' ? 'invalid_token' : 'unknown_token' });
    throw new Unauthorized();
  }
  const { owner, scopes: granted } = caller;
  const text = callerText(caller.caller, (names) => logEvent('caller_cut', { names: names.join(' ') }));
  const [tool, needed] = scopedCall(event, toolScopes) ?? [undefined, scopes];
  const enough = sufficient(needed, granted);
  if (!enough) audit('denied', { owner, tool, reason: 'insufficient_scope' });
  const stage = event.methodArn.split('/').slice(0, 2).join('/');
  return {
    principalId: owner,
    policyDocument: {
      Version: '2012-10-17',
      Statement: [{ Effect: enough ? 'Allow' : 'Deny', Action: 'execute-api:Invoke', Resource: `${stage}/*` }],
    },
    ...(enough && { context: { owner, scope: granted.join(' '), ...(text !== undefined && { caller: text }) } }),
  };
}

/** Its message is the word that API Gateway turns into a 401, which it does not cache. */
export class Unauthorized extends Error {
  constructor() {
    super('Unauthorized');
  }
}

/** The tool in the headers of a 2026-07-28 call and its scopes, if it has some. */
function scopedCall(event: APIGatewayRequestAuthorizerEvent, toolScopes: AuthorizerContext['toolScopes']) {
  if (valuesOf(event, 'mcp-method').join(', ') !== 'tools/call') return undefined;
  const name = decodeHeaderValue(valuesOf(event, 'mcp-name').join(', '));
  return Object.entries(toolScopes).find(([tool]) => tool === name);
}

function valuesOf({ multiValueHeaders }: APIGatewayRequestAuthorizerEvent, wanted: string): readonly string[] {
  return Object.entries(multiValueHeaders ?? {}).flatMap(([name, values]) =>
    name.toLowerCase() === wanted ? (values ?? []) : [],
  );
}
