import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { AwsError } from '../../aws-error.ts';
import { isObject } from '../../json.ts';
import type { StreamResource, StreamViewType, TableResource } from '../../template/specs.ts';
import type { Store } from '../store.ts';
import { type Item, keyNames } from '../units.ts';
import { type StreamRecord, streamRecord, TIME_TO_LIVE } from './record.ts';

/** A change with the place at which its stream keeps it. */
export interface Entry {
  readonly table: string;
  readonly shard: number;
  /** Milliseconds since the epoch, by the clock of the machine. Its age is measured from here. */
  readonly at: number;
  readonly record: StreamRecord;
}

interface CaptureOptions {
  readonly store: Store;
  readonly tables: readonly TableResource[];
  readonly now: () => number;
  readonly nextNumber: () => string;
  /** What to write together with the change, in one batch. */
  readonly keep: (entry: Entry) => readonly { readonly key: string; readonly value: Entry }[];
  /** Called in the order of the sequence numbers, once a change is written. Its writer has no answer yet. */
  readonly onChange: (entry: Entry) => void;
}

/** Runs the removal of an expired item, so that its record says who removed it. */
export type Expire = <T>(remove: () => Promise<T>) => Promise<T>;

export interface Capture {
  readonly expire: Expire;
  /** The stream of a table; undefined if none is on. */
  readonly streamOf: (table: string) => StreamResource | undefined;
  /** Switches the stream of a table on. Its ARN is new each time. Throws an AwsError if it is on. */
  readonly enable: (table: string, viewType: StreamViewType) => StreamResource;
}

/** A table has more than one shard, so that no function can rely on an order between two items. */
export const SHARDS = 2;

interface Write {
  readonly type: 'put' | 'del';
  readonly key: string;
  readonly value?: unknown;
  [ENTRY]?: Pending;
}

/** Where a write carries its entry from the hook to the event. */
const ENTRY = Symbol('entry');

interface Pending {
  readonly entry: Entry;
  written: boolean;
}

/**
 * Makes a record of every write that changes an item of a table with a stream. dynalite writes an item while it holds
 * the lock of its key. The hook runs at that moment, so the item in the database is the old image, and what it adds is
 * written in the same batch as the item, or not at all.
 */
export function captureChanges({ store, tables, now, nextNumber, keep, onChange }: CaptureOptions): Capture {
  const ofTemplate = tables.flatMap(({ name, schema, stream }) => (stream ? [{ name, schema, stream }] : []));
  const streams = new Map(ofTemplate.map((table) => [table.name, table]));
  const identity = new AsyncLocalStorage<typeof TIME_TO_LIVE>();
  // Writes may end in another order than they begin. A later one waits here for those before it.
  const pending: Pending[] = [];

  store.db.hooks.prewrite.add((write: Write, batch) => {
    const place = placeOf(write.key);
    const streamed = place && streams.get(place.table);
    if (!place || !streamed) return;
    const record = streamRecord(streamed.stream, keyNames(streamed.schema), {
      before: itemOf(store.db.getSync(write.key)),
      after: write.type === 'put' ? itemOf(write.value) : undefined,
      at: Math.floor(now() / 1000),
      sequenceNumber: nextNumber(),
      identity: identity.getStore(),
    });
    if (!record) return;
    const entry = { ...place, at: Date.now(), record };
    for (const { key, value } of keep(entry)) batch.add({ type: 'put', key, value });
    const kept = { entry, written: false };
    write[ENTRY] = kept;
    pending.push(kept);
  });
  store.db.on('write', (writes: readonly Write[]) => {
    for (const { [ENTRY]: kept } of writes) if (kept) kept.written = true;
    while (pending[0]?.written) {
      const [next] = pending.splice(0, 1);
      if (next) onChange(next.entry);
    }
  });
  for (const table of streams.keys()) keepContext(store, table);
  const { deleteItemDb } = store;
  store.deleteItemDb = (table, done) => {
    // Items that go with their table make no records.
    streams.delete(table);
    deleteItemDb(table, done);
  };

  return {
    expire: (remove) => identity.run(TIME_TO_LIVE, remove),
    streamOf: (table) => streams.get(table)?.stream,
    enable(table, viewType) {
      if (streams.has(table))
        throw new AwsError('ValidationException', `Table already has an enabled stream: ${table}`);
      const before = ofTemplate.find(({ name }) => name === table);
      if (!before)
        throw new AwsError('ValidationException', `${table} has no stream in the template: none can be on here`);
      const label = new Date(now()).toISOString().slice(0, -1);
      const arn = before.stream.arn.replace(/[^/]*$/, label);
      const stream = { arn, region: before.stream.region, viewType };
      streams.set(table, { ...before, stream });
      keepContext(store, table);
      return stream;
    },
  };
}

/** A write that waited for the lock of its item keeps its own identity. */
function keepContext(store: Store, table: string): void {
  const items = store.getItemDb(table);
  const { lock } = items;
  items.lock = (key, run) => lock(key, AsyncResource.bind(run));
}

const ITEM = 'item-';
const HASH_DIGITS = 6;

/** `item-<table>~<hash of the partition key>/…` */
function placeOf(key: string): Pick<Entry, 'table' | 'shard'> | undefined {
  if (!key.startsWith(ITEM)) return undefined;
  const end = key.indexOf('~');
  const hash = Number.parseInt(key.slice(end + 1, end + 1 + HASH_DIGITS), 16);
  return { table: key.slice(ITEM.length, end), shard: hash % SHARDS };
}

function itemOf(value: unknown): Item | undefined {
  return isObject(value) ? value : undefined;
}
