import type { Entry } from './capture.ts';

export type Shard = ReturnType<typeof createShard>;

/**
 * The records of one shard that one consumer has not dealt with, the oldest first.
 *
 * @param onDone called with what `done` forgot
 */
export function createShard(index: number, onDone: (entries: readonly Entry[]) => void) {
  let entries: Entry[] = [];
  let arrival = Promise.withResolvers<void>();
  return {
    // As on AWS: "shardId-", 20 digits, a dash and 8 hexadecimal digits.
    id: `shardId-${String(index).padStart(20, '0')}-00000000`,
    get entries(): readonly Entry[] {
      return entries;
    },
    /** Resolves when a record arrives after this call. */
    arrival: () => arrival.promise,
    add(entry: Entry): void {
      entries.push(entry);
      arrival.resolve();
      arrival = Promise.withResolvers();
    },
    /** Forgets records. They do not appear again, not even after a restart. */
    done(gone: readonly Entry[]): void {
      if (gone.length === 0) return;
      const forgotten = new Set(gone);
      entries = entries.filter((entry) => !forgotten.has(entry));
      onDone(gone);
    },
  };
}
