import { isObject, parsedObject } from '../../json.ts';
import type { InvokeResult } from '../../lambda/types.ts';
import type { FifoMessage, FifoQueue } from '../../sqs/fifo/queue.ts';
import { md5, systemAttributes } from '../../sqs/fifo/requests.ts';
import type { Queues } from '../../sqs/queues.ts';
import type { PollerOptions } from '../poller.ts';
import type { QueueMapping } from './mappings.ts';

export type QueuePollerOptions = Pick<
  PollerOptions,
  'lambda' | 'bench' | 'timeScale' | 'pause' | 'stopped' | 'onError'
> & { readonly chains: Queues['chains'] };

/** "Approximately 16 times in the same chain of requests", then Lambda stops it ("Use Lambda recursive loop detection to prevent infinite loops"). */
const LONGEST_CHAIN = 16;

/** Between two attempts to call a function that Lambda does not run. AWS does not document it. */
const PAUSE_MS = 1_000;

interface Context {
  readonly mapping: QueueMapping;
  readonly queue: FifoQueue;
  readonly options: QueuePollerOptions;
}

/**
 * Reads a FIFO queue for one mapping. Batches of different groups run at the same time: "the number of active message groups" bounds
 * them ("Scaling behavior for Amazon SQS event source mappings"). A group waits for its batch, since that is in flight.
 */
export async function pollQueue(mapping: QueueMapping, queue: FifoQueue, options: QueuePollerOptions): Promise<void> {
  const running = new Set<Promise<void>>();
  while (!options.stopped()) {
    const batch = running.size < mapping.maximumConcurrency ? nextBatch(mapping, queue) : [];
    if (batch.length === 0) {
      await Promise.race([queue.arrival(), ...running]);
      continue;
    }
    const run: Promise<void> = deliver({ mapping, queue, options }, batch)
      .catch((error: unknown) => options.onError(`${mapping.logicalId} could not deliver: ${String(error)}`))
      .finally(() => running.delete(run));
    running.add(run);
  }
}

const nextBatch = ({ batchSize }: QueueMapping, queue: FifoQueue) => queue.receive(batchSize, queue.visibilitySeconds);

/** Deletes what the function has dealt with. All else becomes visible again when its time is over. */
async function deliver(context: Context, batch: readonly FifoMessage[]): Promise<void> {
  const { mapping, queue, options } = context;
  const hops = Math.max(...batch.map((message) => message.hops));
  const event = { Records: batch.map((message) => recordOf(message, mapping)) };
  const handles = batch.map(({ handle }) => handle);
  // A message that was received again belongs to another batch.
  const own = () => batch.filter((message, index) => message.handle === handles[index] && queue.isInFlight(message));
  if (hops >= LONGEST_CHAIN && !mapping.allowsLoop) {
    options.onError(
      `${mapping.logicalId}: Lambda takes this for a loop, and drops the message: set recursiveLoop to ALLOW`,
    );
    for (const message of own()) queue.remove(message);
    return;
  }
  while (!options.stopped() && own().length > 0) {
    const result = await attempt(context, event, hops + 1);
    if (options.stopped()) return;
    if (result instanceof Error) {
      options.onError(`${mapping.logicalId} could not deliver: ${String(result)}`);
      await options.pause(PAUSE_MS / options.timeScale);
      continue;
    }
    const failed = failedOf(result, batch, mapping.reportsFailures);
    for (const message of own()) if (!failed.has(message.id)) queue.remove(message);
    return;
  }
}

/** The result of an invocation; an error if Lambda did not run the function, or its answer was lost. */
async function attempt({ mapping, options }: Context, event: object, hops: number): Promise<InvokeResult | Error> {
  const { logicalId: caller, functionArn } = mapping;
  const call = { service: 'sqs', operation: 'Deliver', caller, worker: undefined, input: () => event } as const;
  let worker: string | undefined;
  const onWorker = (id: string) => {
    worker = id;
    options.chains.set(id, hops);
  };
  try {
    return await options.bench.withFaults(call, () =>
      options.lambda.invoke(functionArn, JSON.stringify(event), { onWorker }),
    );
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    if (worker !== undefined) options.chains.delete(worker);
  }
}

/**
 * The ids of the messages that failed. "Lambda treats a batch as a complete failure if your function returns … an empty string
 * itemIdentifier, a null itemIdentifier, an itemIdentifier with a bad key name", or an unknown one ("Handling errors for an SQS event source").
 */
export function failedOf(
  result: InvokeResult,
  batch: readonly Pick<FifoMessage, 'id'>[],
  reports: boolean,
): ReadonlySet<string> {
  const all = new Set(batch.map(({ id }) => id));
  if (result.functionError !== undefined) return all;
  if (!reports || result.payload === '' || result.payload === 'null') return new Set();
  const answer = parsedObject(result.payload);
  const failures = answer ? (answer.batchItemFailures ?? []) : undefined;
  if (!Array.isArray(failures)) return all;
  const ids = failures.map((failure) => (isObject(failure) ? String(failure.itemIdentifier) : ''));
  return ids.every((id) => all.has(id)) ? new Set(ids) : all;
}

/** A message as a function gets it ("Using Lambda with Amazon SQS", example event). */
const recordOf = (message: FifoMessage, { queueArn, region }: QueueMapping) => ({
  messageId: message.id,
  receiptHandle: message.handle,
  body: message.body,
  attributes: systemAttributes(message),
  messageAttributes: Object.fromEntries(
    Object.entries(message.attributes).map(([name, stringValue]) => [
      name,
      { stringValue, stringListValues: [], binaryListValues: [], dataType: 'String' },
    ]),
  ),
  md5OfBody: md5(message.body),
  eventSource: 'aws:sqs',
  eventSourceARN: queueArn,
  awsRegion: region,
});
