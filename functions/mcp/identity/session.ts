import { InvalidRequest } from '../../tasks/errors.ts';
import { listPartition, newSessionKey, type Principal } from '../../tasks/ids.ts';
import { limits } from '../../tasks/limits.ts';
import type { ServerContext } from '../context.ts';
import type { HttpRequest } from '../http/http.ts';
import { isModern } from '../protocol/versions.ts';

/**
 * A 2025-11-25 session without a session table (B-04): the id itself carries, signed, what `initialize` agreed on. It
 * distinguishes anonymous callers and authorises nothing. The session of a verified caller opens only for that caller
 * (G-14).
 */
export interface Session {
  readonly version: string;
  readonly key: string;
  readonly accepts: readonly string[];
  /** When it ends, in seconds since the epoch. */
  readonly expires: number;
}

/** Who sent a request. */
export interface Sender {
  readonly request: HttpRequest;
  readonly principal: Principal;
  readonly session?: Session;
}

const purpose = (principal: Principal) => (principal.kind === 'verified' ? `session:${principal.key}` : 'session');

export async function mintSession(
  server: ServerContext,
  principal: Principal,
  version: string,
  accepts: readonly string[],
): Promise<string> {
  const expires = sessionExpires(server);
  return server.signer.seal(purpose(principal), { version, key: newSessionKey(), accepts, expires });
}

/** When a session that is used now ends, in seconds since the epoch. */
export const sessionExpires = (server: ServerContext): number => Math.floor((server.now() + limits.session) / 1_000);

/** The session identifies an anonymous 2025-11-25 client. An unknown, foreign or expired session is a 404 (B-05). */
export async function senderOf(request: HttpRequest, principal: Principal, server: ServerContext): Promise<Sender> {
  const id = request.headers['mcp-session-id'];
  // A request that names 2026-07-28 in its header needs no session (D-32).
  if (id === undefined || isModern(request.headers['mcp-protocol-version'])) return { request, principal };
  const session = (await server.signer.open(purpose(principal), id)) as Session | undefined;
  if (session === undefined || session.expires * 1_000 <= server.now()) {
    server.audit('denied', { owner: listPartition(principal), reason: 'session' });
    throw new InvalidRequest('Session not found: initialize again', 404);
  }
  return {
    request,
    principal: principal.kind === 'anonymous' ? { ...principal, session: session.key } : principal,
    session,
  };
}
