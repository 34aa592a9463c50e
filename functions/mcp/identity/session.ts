import { newSessionKey, type Principal } from '../../tasks/ids.ts';
import { limits } from '../../tasks/limits.ts';
import type { ServerContext } from '../context.ts';

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

/** The session with this id. Undefined if the id is forged or foreign, or the session has ended (B-05). */
export async function openSession(
  server: ServerContext,
  principal: Principal,
  id: string,
): Promise<Session | undefined> {
  const opened = (await server.signer.open(purpose(principal), id)) as Session | undefined;
  return opened !== undefined && opened.expires * 1_000 > server.now() ? opened : undefined;
}
