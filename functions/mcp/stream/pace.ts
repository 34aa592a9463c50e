import { limits } from '../../tasks/limits.ts';
import type { ServerContext } from '../context.ts';
import { KEEP_ALIVE, QUIET } from '../http/sse.ts';

/** The shortest time between two reads, in ms. */
const PACE = 1_000;

/** How long a stream waits before a read of so many units, in ms: it reads `limits.streamUnits` a second at most. */
const pauseBefore = (units: number): number => Math.max(PACE, (1_000 * units) / limits.streamUnits);

/**
 * Waits until a read of so many units may come, or until `until` (ms since the epoch). Yields a comment when nothing was sent
 * for a while. Ends early when the reader has gone.
 *
 * @param quiet since when nothing was sent, in ms since the epoch
 */
export async function* waitBefore(
  units: number,
  until: number,
  quiet: { since: number },
  server: Pick<ServerContext, 'now' | 'sleep'>,
  gone: AbortSignal,
): AsyncGenerator<string, void, void> {
  const next = Math.min(until, server.now() + pauseBefore(units));
  do {
    const now = server.now();
    if (now - quiet.since >= QUIET) {
      quiet.since = now;
      yield KEEP_ALIVE;
    }
    await server.sleep(Math.min(PACE, next - now));
  } while (server.now() < next && !gone.aborted);
}
