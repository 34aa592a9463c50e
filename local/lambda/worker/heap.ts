import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const TRIES = 1_000;
let collect: (() => void) | undefined;

/** The size of this thread's heap, and of its buffers outside it, after a garbage collection. */
export function heapBytes(): number {
  collect ??= collector();
  collect();
  // Buffers are freed in the background; a second collection waits for that.
  collect();
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
}

/** Gets `gc`. Flags belong to the whole process: another thread may take this flag back before it is used. */
function collector(): () => void {
  for (let tries = 1; ; tries++) {
    setFlagsFromString('--expose-gc');
    try {
      return runInNewContext('gc') as () => void;
    } catch (error) {
      if (tries === TRIES) throw error;
    } finally {
      // With the flag V8 would refuse the compile caches of workers that start later.
      setFlagsFromString('--no-expose-gc');
    }
  }
}
