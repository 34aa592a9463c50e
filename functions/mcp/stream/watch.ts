import type { TaskKey, TaskRecord } from '../../tasks/record.ts';
import { goOnIfLost } from '../go-on.ts';
import type { Server } from '../server.ts';
import { present } from '../task-view.ts';

const FIRST = 50;
const FASTEST = 500;

/**
 * A task, looked at again and again until `until` (ms since the epoch), at the last moment once more; undefined when
 * it is gone. Looks come quickly at first, as most tools are, then every half second.
 */
export async function* watch(key: TaskKey, until: number, server: Server): AsyncGenerator<TaskRecord | undefined> {
  for (let pause = FIRST; ; pause = Math.min(pause * 1.5, FASTEST)) {
    const stored = await server.store.get(key);
    // Once is enough: whoever waits longer comes back, and the sweep comes by.
    if (stored !== undefined && pause === FIRST) await goOnIfLost(stored, server);
    const now = server.now();
    yield stored && present(stored, server);
    if (now >= until) return;
    await server.sleep(Math.min(pause, until - now));
  }
}
