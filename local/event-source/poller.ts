import { randomUUID } from 'node:crypto';
import type { Entry, Shard } from '../dynamodb/stream/index.ts';
import type { FaultBench } from '../faults/index.ts';
import type { InvokeResult, Lambda } from '../lambda/types.ts';
import type { Queues } from '../sqs/queues.ts';
import { nextBatch } from './batch.ts';
import { type Condition, type Discarded, discardMessage } from './discard.ts';
import { type Outcome, outcomeOf } from './outcome.ts';
import type { EventSourceMapping } from './types.ts';

export interface PollerOptions {
  readonly lambda: Pick<Lambda, 'invoke'>;
  readonly queues: Pick<Queues, 'send'>;
  readonly bench: Pick<FaultBench, 'withFaults'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Divides the batching window, the pauses between attempts and the age of a record. */
  readonly timeScale: number;
  /** Never resolves once the pollers are stopped. */
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly stopped: () => boolean;
  readonly onError: (message: string) => void;
}

/** AWS retries with exponential backoff. It does not document the shortest and longest pause. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** "The data retention limit for DynamoDB Streams is 24 hours." */
const RETENTION_SECONDS = 86_400;

/** Reads one shard for one mapping: one batch after the other, each until it is done or given up. */
export async function pollShard(mapping: EventSourceMapping, shard: Shard, options: PollerOptions): Promise<void> {
  while (!options.stopped()) {
    const entries = await gather(mapping, shard, options);
    if (entries.length > 0) await deliver({ mapping, shard, options }, entries);
    else await shard.arrival();
  }
}

/** The next batch, once it is full or the batching window is over. */
async function gather(mapping: EventSourceMapping, shard: Shard, options: PollerOptions): Promise<readonly Entry[]> {
  let batch = nextBatch(shard, mapping);
  const windowMs = (mapping.batchingWindowSeconds * 1000) / options.timeScale;
  if (windowMs === 0 || batch.entries.length === 0) return batch.entries;
  let over = false;
  const end = options.pause(windowMs).then(() => {
    over = true;
  });
  while (!batch.full && !over) {
    await Promise.race([end, shard.arrival()]);
    batch = nextBatch(shard, mapping);
  }
  return batch.entries;
}

interface DeliverContext {
  readonly mapping: EventSourceMapping;
  readonly shard: Shard;
  readonly options: PollerOptions;
}

/** Ends when each record is either done or given up: the next batch of the shard waits for that. */
async function deliver(context: DeliverContext, batch: readonly Entry[]): Promise<void> {
  const { mapping, shard, options } = context;
  const requestId = randomUUID();
  let entries = batch;
  let [retries, invocations, pauses] = [0, 0, 0];
  let result: InvokeResult | undefined;
  const giveUp = (gone: readonly Entry[], condition: Condition) =>
    discard(context, gone, { condition, requestId, invocations, result });

  while (!options.stopped()) {
    const old = entries.filter((entry) => isTooOld(entry, mapping, options));
    if (old.length > 0) giveUp(old, 'RecordAgeExceeded');
    entries = entries.filter((entry) => !old.includes(entry));
    if (entries.length === 0) return;

    const outcome = await attempt(context, entries);
    if (options.stopped()) return;
    if (outcome.kind === 'done') return shard.done(entries);
    if (outcome.kind === 'failed') {
      invocations++;
      result = outcome.result;
      shard.done(entries.slice(0, outcome.from));
      entries = entries.slice(outcome.from);
      const splits = mapping.bisects && (outcome.from > 0 || entries.length > 1);
      if (splits && outcome.from === 0) {
        await options.pause(pauseMs(pauses) / options.timeScale);
        const middle = Math.ceil(entries.length / 2);
        await deliver(context, entries.slice(0, middle));
        return deliver(context, entries.slice(middle));
      }
      // "Splitting batches doesn't consume the retry quota."
      if (!splits && retries++ >= mapping.maximumRetryAttempts) return giveUp(entries, 'RetryAttemptsExhausted');
    } else options.onError(`${mapping.logicalId} could not deliver: ${String(outcome.error)}`);
    await options.pause(pauseMs(pauses++) / options.timeScale);
  }
}

async function attempt({ mapping, options }: DeliverContext, entries: readonly Entry[]): Promise<Outcome> {
  const { lambda, bench } = options;
  const event = { Records: entries.map(({ record }) => record) };
  const numbers = entries.map(({ record }) => record.dynamodb.SequenceNumber);
  const { logicalId: caller, functionArn, reportsFailures } = mapping;
  const call = { service: 'streams', operation: 'Deliver', caller, worker: undefined, input: () => event } as const;
  try {
    const result = await bench.withFaults(call, () => lambda.invoke(functionArn, JSON.stringify(event)));
    return outcomeOf(result, reportsFailures ? numbers : undefined);
  } catch (error) {
    return { kind: 'unreachable', error };
  }
}

function isTooOld({ at }: Entry, { maximumRecordAgeSeconds }: EventSourceMapping, { timeScale }: PollerOptions) {
  const seconds = ((Date.now() - at) / 1000) * timeScale;
  return seconds > Math.min(maximumRecordAgeSeconds, RETENTION_SECONDS);
}

function pauseMs(before: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** before, LONGEST_PAUSE_MS);
}

type GivenUp = Pick<Discarded, 'condition' | 'requestId' | 'invocations' | 'result'>;

function discard({ mapping, shard, options }: DeliverContext, entries: readonly Entry[], givenUp: GivenUp): void {
  options.onError(`${mapping.logicalId} gave up ${entries.length} records: ${givenUp.condition}`);
  if (mapping.onFailure !== undefined) {
    const discarded = { mapping, shardId: shard.id, entries, at: options.now(), ...givenUp };
    options.queues.send(mapping.onFailure, discardMessage(discarded));
  }
  shard.done(entries);
}
