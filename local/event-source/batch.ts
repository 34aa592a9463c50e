import type { Entry, Shard } from '../dynamodb/stream/index.ts';
import type { EventSourceMapping } from './types.ts';

/**
 * Bytes of the event with its records: "the payload size" of a batch ends at 6 MB ("Batching behavior" in the Lambda
 * developer guide), the limit of a synchronous invocation.
 */
const MOST_BYTES = 6_291_456;
const ENVELOPE = Buffer.byteLength(JSON.stringify({ Records: [] }));

export interface Batch {
  readonly entries: readonly Entry[];
  readonly full: boolean;
}

/** The first records of a shard that fit into one event. Forgets records that the mapping does not want. */
export function nextBatch(shard: Shard, { batchSize, wants }: EventSourceMapping): Batch {
  const unwanted = shard.entries.filter(({ record }) => !wants({ ...record }));
  if (unwanted.length > 0) shard.done(unwanted);
  const first = shard.entries.slice(0, batchSize);
  let bytes = ENVELOPE;
  const end = first.findIndex(({ record }) => {
    bytes += Buffer.byteLength(JSON.stringify(record)) + 1;
    return bytes > MOST_BYTES;
  });
  // A record takes less than 1 MB, so there is always room for one.
  return end === -1
    ? { entries: first, full: first.length === batchSize }
    : { entries: first.slice(0, end), full: true };
}
