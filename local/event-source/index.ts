import type { Streams } from '../dynamodb/stream/index.ts';
import type { Queues } from '../sqs/queues.ts';
import { createPauses } from '../time/timeout.ts';
import { lanesOf } from './lanes.ts';
import { type PollerOptions, pollShard } from './poller.ts';
import type { QueueMapping } from './queue/mappings.ts';
import { pollQueue } from './queue/poller.ts';
import type { EventSourceMapping } from './types.ts';

export { readEventSourceMappings } from './mappings.ts';
export { readQueueMappings } from './queue/mappings.ts';

export interface EventSourceOptions extends Omit<PollerOptions, 'pause' | 'stopped'> {
  readonly mappings: readonly EventSourceMapping[];
  readonly streams: Pick<Streams, 'shardsOf'>;
  readonly queueMappings: readonly QueueMapping[];
  readonly queues: Pick<Queues, 'send' | 'fifo' | 'chains'>;
}

/** Reads streams and FIFO queues as Lambda does: passes the records of each mapping to its function. */
export function startEventSources({ mappings, streams, queueMappings, ...options }: EventSourceOptions) {
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
  for (const mapping of queueMappings) {
    const queue = options.queues.fifo(mapping.queueArn);
    if (queue) void pollQueue(mapping, queue, { ...poller, chains: options.queues.chains });
  }
  return {
    add,
    /** Records that are under way then are delivered again after a restart. */
    stop(): void {
      stopped = true;
      end();
    },
  };
}
