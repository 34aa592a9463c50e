import { totalmem } from 'node:os';

export type Memory = ReturnType<typeof createMemory>;

interface SharingPool {
  endIdle(): boolean;
  pump(): void;
}

/** Three quarters of the memory of this machine or container. The rest is for this process and for others. */
export function machineMemoryMb(): number {
  const bytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  return Math.floor((bytes * 0.75) / 2 ** 20);
}

/** The memory budget of all workers, each counted as the memory of its function. */
export function createMemory(megabytesInAll: number) {
  const pools: SharingPool[] = [];
  let taken = 0;
  let woken = false;
  const wake = () => {
    woken = false;
    for (const { pump } of pools) pump();
  };
  const fits = (megabytes: number) => taken + megabytes <= megabytesInAll;
  return {
    /** Registers a pool: how it ends an idle worker, and how it starts workers that wait for room. */
    join: (pool: SharingPool) => void pools.push(pool),
    /**
     * Takes room for one more worker, if necessary by ending an idle worker of another function. The first worker of a
     * function always has room: otherwise a function that waits for another one could wait endlessly.
     */
    take(megabytes: number, first: boolean): boolean {
      while (!first && !fits(megabytes)) if (!pools.some(({ endIdle }) => endIdle())) return false;
      taken += megabytes;
      return true;
    },
    /** How many more workers of this size have room. */
    room: (megabytes: number) => Math.max(0, Math.floor((megabytesInAll - taken) / megabytes)),
    give(megabytes: number): void {
      taken -= megabytes;
      if (woken) return;
      woken = true;
      setImmediate(wake);
    },
  };
}
