import type { APIGatewayProxyEvent } from 'aws-lambda';
import { CHALLENGE } from '../authorizer/challenge.ts';
import { sufficient } from '../authorizer/scopes.ts';
import { InvalidRequest } from '../tasks/errors.ts';
import { type Principal, verifiedKey } from '../tasks/ids.ts';
import { type HttpReply, type HttpRequest, jsonReply } from './http.ts';
import { errorMessage, type RequestId, type RpcMessage } from './jsonrpc.ts';
import type { Manifest } from './manifest.ts';
import type { Server } from './server.ts';
import type { Session } from './session.ts';

/** A caller the front door has verified: nothing the client says of itself counts (G-14). */
export interface Caller {
  readonly key: string;
  readonly scopes: readonly string[];
  /** Whether they have those that every call needs. */
  readonly enough: boolean;
  /** When the token expires, in ms since the epoch. */
  readonly expires: number;
  /** The path at which the front door challenges callers. */
  readonly challengeAt: string;
}

/** From what API Gateway adds to a request; undefined if it has verified nobody. */
export function callerOf(auth: Manifest['auth'], context: APIGatewayProxyEvent['requestContext']): Caller | undefined {
  if (auth === 'anonymous') return undefined;
  const path = context.path.split('/').filter((part) => part !== '');
  const challengeAt = `/${[...path, CHALLENGE].join('/')}`;
  if (auth === 'iam') {
    const { caller, cognitoIdentityId } = context.identity;
    if (!caller) return undefined;
    return {
      // All identities of a Cognito pool are one session of one role: only their id tells them apart.
      key: cognitoIdentityId ? verifiedKey('cognito', 'user', cognitoIdentityId) : verifiedKey('iam', 'user', caller),
      scopes: [],
      enough: true,
      expires: Number.POSITIVE_INFINITY,
      challengeAt,
    };
  }
  const { owner, scope, enough, expires } = context.authorizer ?? {};
  if (typeof owner !== 'string' || owner === '') return undefined;
  const scopes = String(scope).split(' ');
  // Text: API Gateway hands every value of a context on as such.
  return { key: owner, scopes, enough: String(enough) === 'true', expires: Number(expires) * 1_000, challengeAt };
}

/** Whose tasks are this caller's: where callers are verified, nothing else counts (G-15). */
export function principalOf({ caller }: HttpRequest, { manifest }: Server, session?: Session): Principal {
  if (manifest.auth === 'anonymous') return { kind: 'anonymous', ...(session && { session: session.key }) };
  if (caller === undefined) throw new InvalidRequest('Forbidden', 403);
  return { kind: 'verified', key: caller.key };
}

/** A cached answer of the authorizer may be older than the end of its token. */
export function expired({ caller }: HttpRequest, { now, audit }: Server): HttpReply | undefined {
  if (caller === undefined || caller.expires >= now()) return undefined;
  audit('denied', { owner: caller.key, reason: 'expired_token' });
  return toChallenge(caller, 'The access token has expired');
}

/** Before anything else is done for a message (G-09): whether its token is enough, for a call also for its tool. */
export function outOfScope({ caller }: HttpRequest, message: RpcMessage | undefined, server: Server) {
  if (caller === undefined) return undefined;
  const request = message?.kind === 'request' ? message : undefined;
  const name = request?.method === 'tools/call' ? request.params.name : undefined;
  const tool = typeof name === 'string' ? server.tools.get(name)?.entry : undefined;
  if (caller.enough && sufficient(tool?.scopes ?? [], caller.scopes)) return undefined;
  server.audit('denied', { owner: caller.key, tool: tool?.name, reason: 'insufficient_scope' });
  return toChallenge(caller, 'The access token lacks a scope', request?.id, tool?.name);
}

/**
 * The client follows, and the front door refuses it there with a `WWW-Authenticate`, which from here would arrive under
 * another name (G-17). 307 keeps method, body and, on the same origin, the token. Of a call only the name of a tool that
 * there is goes into the header, which holds 10 KB: what the caller wrote may be anything.
 */
function toChallenge({ challengeAt }: Caller, why: string, id?: RequestId, tool?: string): HttpReply {
  const location = tool === undefined ? challengeAt : `${challengeAt}?tool=${tool}`;
  return jsonReply(307, errorMessage(id, new InvalidRequest(why)).body, { location });
}
