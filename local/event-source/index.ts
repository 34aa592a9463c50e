import type { Streams } from '../dynamodb/stream/index.ts';
import { createPauses } from '../time/timeout.ts';
import { type PollerOptions, pollShard } from './poller.ts';
import type { EventSourceMapping } from './types.ts';

export { readEventSourceMappings } from './mappings.ts';

export interface EventSourceOptions extends Omit<PollerOptions, 'pause' | 'stopped'> {
  readonly mappings: readonly EventSourceMapping[];
  readonly streams: Pick<Streams, 'shardsOf'>;
}

/**
 * Reads streams as Lambda does: passes the records of each mapping to its function. Returns a function that stops this.
 * Records that are under way then are delivered again after a restart.
 */
export function startEventSources({ mappings, streams, ...options }: EventSourceOptions): () => void {
  const { pause, end } = createPauses();
  let stopped = false;
  const poller = { ...options, pause, stopped: () => stopped };
  for (const mapping of mappings) {
    for (const shard of streams.shardsOf(mapping)) {
      pollShard(mapping, shard, poller).catch((error: unknown) => {
        options.onError(`the mapping ${mapping.logicalId} stopped: ${String(error)}`);
      });
    }
  }
  return () => {
    stopped = true;
    end();
  };
}
