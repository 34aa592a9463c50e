import type { Entry } from './capture.ts';

/** The records of one shard that one consumer has not dealt with, the oldest first. */
export interface Shard {
  readonly id: string;
  readonly entries: readonly Entry[];
  /** Resolves when a record arrives after this call. */
  arrival(): Promise<void>;
  /** Forgets records. They do not appear again, not even after a restart. */
  done(entries: readonly Entry[]): void;
}

export interface OpenShard extends Shard {
  add(entry: Entry): void;
}

/** @param onDone called with what `done` forgot */
export function createShard(index: number, onDone: (entries: readonly Entry[]) => void): OpenShard {
  let entries: Entry[] = [];
  let arrival = Promise.withResolvers<void>();
  return {
    // As on AWS: "shardId-", 20 digits, a dash and 8 hexadecimal digits.
    id: `shardId-${String(index).padStart(20, '0')}-00000000`,
    get entries() {
      return entries;
    },
    arrival: () => arrival.promise,
    add(entry) {
      entries.push(entry);
      arrival.resolve();
      arrival = Promise.withResolvers();
    },
    done(gone) {
      if (gone.length === 0) return;
      const forgotten = new Set(gone);
      entries = entries.filter((entry) => !forgotten.has(entry));
      onDone(gone);
    },
  };
}
