import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** How much this thread's heap holds, and its buffers outside of it, once all garbage is collected. */
export function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  // Buffers are freed in the background, unless the next collection wants them gone.
  collect();
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
}
