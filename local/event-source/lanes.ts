import { createHash } from 'node:crypto';
import type { Entry, Shard } from '../dynamodb/stream/index.ts';

/**
 * A shard as several that are read at the same time. "If you increase the number of concurrent batches per shard, Lambda still ensures
 * in-order processing at the item (partition and sort key) level" ("Polling and batching streams" in the Lambda developer guide).
 */
export function lanesOf(shard: Shard, count: number): Shard[] {
  return Array.from({ length: count }, (_, lane) => ({
    ...shard,
    get entries() {
      return shard.entries.filter((entry) => laneOf(entry, count) === lane);
    },
  }));
}

const laneOf = ({ record }: Entry, count: number): number =>
  createHash('sha256').update(JSON.stringify(record.dynamodb.Keys)).digest().readUInt16BE(0) % count;
