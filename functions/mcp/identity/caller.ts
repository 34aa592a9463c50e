import type { APIGatewayProxyEvent } from 'aws-lambda';
import { sufficient } from '../../authorizer/scopes.ts';
import { InsufficientScope, InvalidRequest } from '../../tasks/errors.ts';
import { listPartition, type Principal, verifiedKey } from '../../tasks/ids.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import type { ServerContext } from '../context.ts';
import type { Caller, HttpRequest } from '../http/http.ts';
import type { Manifest } from '../manifest.ts';
import type { RpcMessage } from '../protocol/jsonrpc.ts';
import type { Session } from './session.ts';

/** The caller that API Gateway has verified, from the request context. Undefined if it verified none. */
export function verifiedCaller(
  auth: Manifest['auth'],
  context: APIGatewayProxyEvent['requestContext'],
): Caller | undefined {
  if (auth === 'anonymous') return undefined;
  if (auth === 'iam') {
    const { caller, cognitoIdentityId } = context.identity;
    if (!caller) return undefined;
    // All identities of a Cognito pool share one session of one role. Only their id differs.
    const [issuer, name] = cognitoIdentityId ? ['cognito', cognitoIdentityId] : ['iam', caller];
    return { key: verifiedKey(issuer, 'user', name), scopes: [] };
  }
  const { owner, scope } = context.authorizer ?? {};
  if (typeof owner !== 'string' || owner === '') return undefined;
  return { key: owner, scopes: String(scope ?? '').split(' ') };
}

/** The owner of this caller's tasks. If callers are verified, only that identity counts (G-15). */
export function principalOf({ caller }: HttpRequest, { manifest }: ServerContext, session?: Session): Principal {
  if (manifest.auth === 'anonymous') return { kind: 'anonymous', ...(session && { session: session.key }) };
  if (caller === undefined) throw new InvalidRequest('Forbidden', 403);
  // The authorizer checks this too, but API Gateway may use its cached answer from before a deployment that needs more.
  const { scopes = [] } = manifest;
  if (!sufficient(scopes, caller.scopes)) throw new InsufficientScope(scopes);
  return { kind: 'verified', ...caller };
}

/**
 * Throws InsufficientScope if the token does not allow this tool (G-09). The authorizer sees only headers: those of a
 * 2026-07-28 call may lie, and a 2025-11-25 call has none.
 */
export function checkCallScopes(request: HttpRequest, message: RpcMessage, server: ServerContext): void {
  if (message.kind !== 'request' || message.method !== 'tools/call') return;
  checkScopes(principalOf(request, server), { tool: message.params.name as string }, server);
}

/** What the caller asks for: a tool, or a task of that tool. */
type Wanted = Pick<TaskRecord, 'tool' | 'scopes'> & { readonly taskId?: string };

/** Throws InsufficientScope if the token does not allow the tool. Call it before anything is shown or changed. */
export function checkScopes(principal: Principal, wanted: Wanted, server: ServerContext): void {
  if (hasScopes(principal, wanted, server)) return;
  const { taskId, tool } = wanted;
  server.audit('denied', { owner: listPartition(principal), taskId, tool, reason: 'insufficient_scope' });
  throw new InsufficientScope(scopesOf(wanted, server));
}

/** As checkScopes, for lists: they leave out what their caller may not see (G-16). */
export function hasScopes(principal: Principal, wanted: Wanted, server: ServerContext): boolean {
  return sufficient(scopesOf(wanted, server), (principal.kind === 'verified' && principal.scopes) || []);
}

/** The scopes that the tool needs now. If the tool was removed: those it needed when the task was created. */
function scopesOf({ tool, scopes }: Wanted, { tools }: ServerContext): readonly string[] {
  const current = tools.get(tool);
  return (current === undefined ? scopes : current.entry.scopes) ?? [];
}
