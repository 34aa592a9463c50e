import type { TableResource } from '../../template/specs.ts';
import type { Store } from '../store.ts';
import { captureChanges, type Entry, SHARDS } from './capture.ts';
import type { StreamRecord } from './record.ts';
import { createShard, type Shard } from './shard.ts';

export type { Entry } from './capture.ts';
export type { StreamRecord } from './record.ts';
export type { Shard } from './shard.ts';

/** A reader of a stream: an event source mapping. */
export interface Consumer {
  readonly logicalId: string;
  readonly streamArn: string;
}

export type Streams = Awaited<ReturnType<typeof openStreams>>;

interface StreamsOptions {
  readonly store: Store;
  readonly tables: readonly TableResource[];
  readonly consumers: readonly Consumer[];
  /** Whether the database outlives this process. */
  readonly durable: boolean;
  readonly now: () => number;
}

/** Enough for a test, and bounded: a record may have two images of 400 KB. */
const RECORDED = 1_000;

/** Records that a consumer has not dealt with are kept as `stream~<consumer>~<sequence number>`. */
const KEPT = 'stream~';
const AFTER_KEPT = 'stream\u007f';

export async function openStreams(options: StreamsOptions) {
  const { store, tables, consumers, durable, now } = options;
  const recorded = new Map<string, StreamRecord[]>();
  const removals = new Set<Promise<unknown>>();
  let waiting: (() => void)[] = [];

  const keyOf = (consumer: Consumer, { record }: Entry) =>
    `${KEPT}${consumer.logicalId}~${record.dynamodb.SequenceNumber}`;
  const remove = (keys: readonly string[]) => {
    const removal: Promise<unknown> = store.db
      .batch(keys.map((key) => ({ type: 'del', key })))
      .finally(() => removals.delete(removal));
    removals.add(removal);
  };
  const isDrained = () => queues.every(({ shards }) => shards.every(({ entries }) => entries.length === 0));
  const onDone = (consumer: Consumer, entries: readonly Entry[]) => {
    if (durable) remove(entries.map((entry) => keyOf(consumer, entry)));
    if (!isDrained()) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  };
  const queueOf = (consumer: Consumer) => ({
    consumer,
    shards: Array.from({ length: SHARDS }, (_, index) => createShard(index, (entries) => onDone(consumer, entries))),
  });
  const queues = consumers.map(queueOf);
  const readersOf = ({ record }: Entry) =>
    queues.filter(({ consumer }) => consumer.streamArn === record.eventSourceARN);

  let last = '';
  for await (const [key, value] of store.db.iterator({ gte: KEPT, lt: AFTER_KEPT })) {
    const entry = value as Entry;
    const reader = queues.find(({ consumer }) => keyOf(consumer, entry) === key);
    // The template no longer has this consumer.
    if (!reader) remove([key]);
    reader?.shards[entry.shard]?.add(entry);
    if (entry.record.dynamodb.SequenceNumber > last) last = entry.record.dynamodb.SequenceNumber;
  }
  const { expire, streamOf, enable } = captureChanges({
    store,
    tables,
    now,
    nextNumber: sequence(last),
    keep: (entry) =>
      durable ? readersOf(entry).map(({ consumer }) => ({ key: keyOf(consumer, entry), value: entry })) : [],
    onChange(entry) {
      const latest = recorded.get(entry.table) ?? [];
      recorded.set(entry.table, latest);
      latest.push(entry.record);
      if (latest.length > RECORDED) latest.shift();
      for (const { shards } of readersOf(entry)) shards[entry.shard]?.add(entry);
    },
  });

  return {
    streamOf,
    enable,
    shardsOf: ({ logicalId }: Consumer): readonly Shard[] =>
      queues.find(({ consumer }) => consumer.logicalId === logicalId)?.shards ?? [],
    /** Adds a reader. It gets what is written from now on. */
    addConsumer(consumer: Consumer): void {
      queues.push(queueOf(consumer));
    },
    /** Resolves once no consumer has a record left. */
    drained: (): Promise<void> => (isDrained() ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    /** The latest records of a table, at most `RECORDED`. */
    recorded: (table: string): readonly StreamRecord[] => recorded.get(table) ?? [],
    expire,
    /** Resolves once what `done` forgot is removed from the disk. */
    settled: () => Promise.all(removals),
  };
}

/** Digits of the counter in a sequence number, which counts within a millisecond. AWS has 21 to 40 digits in all. */
const COUNTER_DIGITS = 12;

/** Sequence numbers that grow, also over restarts: milliseconds since the epoch, then a counter. */
function sequence(last: string): () => string {
  let [ms, count] = [Number(last.slice(0, -COUNTER_DIGITS)), Number(last.slice(-COUNTER_DIGITS))];
  return () => {
    const now = Date.now();
    if (now > ms) [ms, count] = [now, 0];
    count++;
    return `${ms}${String(count).padStart(COUNTER_DIGITS, '0')}`;
  };
}
