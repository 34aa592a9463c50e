import { newSessionKey, type Principal } from '../../tasks/ids.ts';
import { limits } from '../../tasks/limits.ts';
import type { ServerContext } from '../context.ts';

/**
 * A 2025-11-25 session without a session table (B-04): the id itself carries what `initialize` agreed on, signed.
 * It tells anonymous callers apart and authorises nothing else: that of a verified caller opens for nobody else (G-14).
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

/** When a session that is heard of now has ended, in seconds since the epoch. */
export const sessionExpires = (server: ServerContext): number => Math.floor((server.now() + limits.session) / 1_000);

/** The session of this id, or undefined when it is not ours or has ended (B-05). */
export async function openSession(
  server: ServerContext,
  principal: Principal,
  id: string,
): Promise<Session | undefined> {
  const opened = (await server.signer.open(purpose(principal), id)) as Session | undefined;
  return opened !== undefined && opened.expires * 1_000 > server.now() ? opened : undefined;
}
