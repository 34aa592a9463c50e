import type { APIGatewayProxyEvent } from 'aws-lambda';
import { callerText } from '../../authorizer/caller-text.ts';
import { sufficient } from '../../authorizer/scopes.ts';
import { InsufficientScope, InvalidRequest } from '../../tasks/errors.ts';
import { type Principal, verifiedKey } from '../../tasks/ids.ts';
import type { ServerContext } from '../context.ts';
import type { Caller } from '../http/http.ts';
import type { Manifest } from '../manifest.ts';

/** The caller that API Gateway has verified, from the request context. Undefined if it verified none. */
export function verifiedCaller(
  auth: Manifest['auth'],
  context: APIGatewayProxyEvent['requestContext'],
): Caller | undefined {
  if (auth === 'anonymous') return undefined;
  if (auth === 'iam') {
    const { caller, cognitoIdentityId, userArn } = context.identity;
    if (!caller) return undefined;
    // All identities of a Cognito pool share one session of one role. Only their id differs.
    const [issuer, name] = cognitoIdentityId ? ['cognito', cognitoIdentityId] : ['iam', caller];
    // An ARN always fits.
    const shown = callerText({ subject: cognitoIdentityId || userArn || caller }, () => {});
    return { key: verifiedKey(issuer, 'user', name), scopes: [], ...(shown !== undefined && { shown }) };
  }
  const { owner, scope, caller: shown } = context.authorizer ?? {};
  if (typeof owner !== 'string' || owner === '') return undefined;
  return { key: owner, scopes: String(scope ?? '').split(' '), ...(typeof shown === 'string' && { shown }) };
}

/** The owner of this caller's tasks. If callers are verified, only that identity counts (G-15). */
export function principalOf(caller: Caller | undefined, { manifest }: ServerContext): Principal {
  if (manifest.auth === 'anonymous') return { kind: 'anonymous' };
  if (caller === undefined) throw new InvalidRequest('Forbidden', 403);
  // The authorizer checks this too, but API Gateway may use its cached answer from before a deployment that needs more.
  const { scopes = [] } = manifest;
  if (!sufficient(scopes, caller.scopes)) throw new InsufficientScope(scopes);
  return { kind: 'verified', ...caller };
}
