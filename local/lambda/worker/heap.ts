import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The size of this thread's heap, and of its buffers outside it, after a garbage collection. */
export function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // With the flag V8 would refuse the compile caches of workers that start later.
  setFlagsFromString('--no-expose-gc');
  collect();
  // Buffers are freed in the background; a second collection waits for that.
  collect();
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
}
