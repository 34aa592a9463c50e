import { startIfCrashed } from '../../engine/start-round.ts';
import { logUnexpected } from '../../tasks/log.ts';
import type { TaskKey, TaskRecord } from '../../tasks/record.ts';
import type { ServerContext } from '../context.ts';
import { isOutage } from '../protocol/aws-outage.ts';
import { currentRecord } from '../read/read.ts';

const FIRST = 50;
const FASTEST = 500;

/**
 * Reads a task repeatedly until `until` (ms since the epoch), the last time at that moment. Yields undefined if the
 * task no longer exists. Reads are frequent at first, because most tools are fast, then every half second. A read that
 * fails in an outage is skipped, but the last one throws. Stops after `gone`.
 */
export async function* watch(
  key: TaskKey,
  until: number,
  server: ServerContext,
  gone?: AbortSignal,
): AsyncGenerator<TaskRecord | undefined> {
  for (let pause = FIRST; ; pause = Math.min(pause * 1.5, FASTEST)) {
    const readAt = server.now();
    const look = await readRecord(key, server);
    // Only at the first read: a client that waits longer makes another request, and the sweep checks too.
    if (look.stored !== undefined && pause === FIRST) await startIfCrashed([look.stored], server);
    const now = server.now();
    if (look.outage === undefined) yield look.stored && currentRecord(look.stored, readAt, server);
    else if (now >= until) throw look.outage;
    if (now >= until) return;
    await server.sleep(Math.min(pause, until - now));
    if (gone?.aborted) return;
  }
}

async function readRecord(
  key: TaskKey,
  server: ServerContext,
): Promise<{ stored?: TaskRecord | undefined; outage?: Error }> {
  try {
    return { stored: await server.store.get(key, { report: true }) };
  } catch (error) {
    if (!isOutage(error)) throw error;
    logUnexpected(error, 'watch');
    return { outage: error };
  }
}
