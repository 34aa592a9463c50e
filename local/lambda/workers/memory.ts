import { totalmem } from 'node:os';

/** What the workers of all functions may take together, each counted by its function's memory. */
export interface Memory {
  /** Makes a pool known: how it ends a worker that has nothing to do, and starts what waits for room. */
  join(pool: Sharer): void;
  /**
   * Takes room for one more worker, if need be that of an idle worker of another function. The first worker of a
   * function always has room: else a function that waits for another one could wait for ever.
   */
  take(megabytes: number, first: boolean): boolean;
  /** How many more such workers have room. */
  room(megabytes: number): number;
  give(megabytes: number): void;
}

interface Sharer {
  /** False: none of its workers is idle. */
  endIdle(): boolean;
  pump(): void;
}

/** Three quarters of what this machine, or this container, has: the rest is for the process itself and for others. */
export function machineMemoryMb(): number {
  const bytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  return Math.floor((bytes * 0.75) / 2 ** 20);
}

export function createMemory(megabytesInAll: number): Memory {
  const sharers: Sharer[] = [];
  let taken = 0;
  let woken = false;
  const wake = () => {
    woken = false;
    for (const { pump } of sharers) pump();
  };
  const fits = (megabytes: number) => taken + megabytes <= megabytesInAll;
  return {
    join: (pool) => void sharers.push(pool),
    take(megabytes, first) {
      while (!first && !fits(megabytes)) if (!sharers.some(({ endIdle }) => endIdle())) return false;
      taken += megabytes;
      return true;
    },
    room: (megabytes) => Math.max(0, Math.floor((megabytesInAll - taken) / megabytes)),
    give(megabytes) {
      taken -= megabytes;
      if (woken) return;
      woken = true;
      setImmediate(wake);
    },
  };
}
