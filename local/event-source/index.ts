import type { Streams } from '../dynamodb/stream/index.ts';
import { createPauses } from '../time/timeout.ts';
import { lanesOf } from './lanes.ts';
import { type PollerOptions, pollShard } from './poller.ts';
import type { EventSourceMapping } from './types.ts';

export { readEventSourceMappings } from './mappings.ts';

export interface EventSourceOptions extends Omit<PollerOptions, 'pause' | 'stopped'> {
  readonly mappings: readonly EventSourceMapping[];
  readonly streams: Pick<Streams, 'shardsOf'>;
}

/** Reads streams as Lambda does: passes the records of each mapping to its function. */
export function startEventSources({ mappings, streams, ...options }: EventSourceOptions) {
  const { pause, end } = createPauses();
  let stopped = false;
  const poller = { ...options, pause, stopped: () => stopped };
  /** Reads the stream of one more mapping. */
  const add = (mapping: EventSourceMapping): void => {
    for (const shard of streams.shardsOf(mapping).flatMap((one) => lanesOf(one, mapping.parallelizationFactor))) {
      pollShard(mapping, shard, poller).catch((error: unknown) => {
        options.onError(`the mapping ${mapping.logicalId} stopped: ${String(error)}`);
      });
    }
  };
  for (const mapping of mappings) add(mapping);
  return {
    add,
    /** Records that are under way then are delivered again after a restart. */
    stop(): void {
      stopped = true;
      end();
    },
  };
}
