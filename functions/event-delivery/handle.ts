import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import type { DeliveryMessage, NewEvents } from '../events/ports.ts';
import { errorFacts, logEvent } from '../tasks/log.ts';
import { type DeliveryContext, deliver } from './deliver.ts';

export type QueueName = 'deliveries' | 'newEvents';

export interface QueueContext extends DeliveryContext {
  /** Measures a message that could not be handled. @param age in ms */
  readonly measureFailure: (queue: QueueName, age: number) => void;
  /** Notes new events of a log for the subscriptions that they fit. Rejects: the message has to come again. */
  readonly fanOut: (message: NewEvents) => Promise<void>;
  /** Hides a message of its queue, and so all later ones of its group. @param seconds a whole number, up to 12 hours */
  readonly hide: (queue: QueueName, receiptHandle: string, seconds: number) => Promise<void>;
}

/** A message that could not be handled comes back after 2 s, then after twice the time each time, up to this, in s. */
const LONGEST = 128;

/**
 * Handles messages of a FIFO queue in their order, up to the first that has to come again. That one and all behind it
 * go back to the queue.
 */
export async function handleMessages({ Records }: SQSEvent, context: QueueContext): Promise<SQSBatchResponse> {
  for (const [index, record] of Records.entries()) {
    if (await isDone(record, context)) continue;
    return { batchItemFailures: Records.slice(index).map(({ messageId }) => ({ itemIdentifier: messageId })) };
  }
  return { batchItemFailures: [] };
}

async function isDone({ body, receiptHandle, attributes }: SQSRecord, context: QueueContext): Promise<boolean> {
  const message = messageOf(body);
  // It would block its group for 14 days, and be no more readable then.
  if (message === undefined) {
    logEvent('delivery_unreadable');
    return true;
  }
  let seconds: number;
  const isNews = !('eventId' in message);
  const queue: QueueName = isNews ? 'newEvents' : 'deliveries';
  const sentAt = Number(attributes.SentTimestamp);
  try {
    if (isNews) {
      await context.fanOut(message);
      return true;
    }
    const verdict = await deliver(message, sentAt, context);
    if (verdict === 'done') return true;
    seconds = Math.ceil(verdict.again / 1_000);
  } catch (error) {
    logEvent('delivery_failed', errorFacts(error));
    context.measureFailure(queue, context.now() - sentAt);
    seconds = Math.min(LONGEST, 2 ** Number(attributes.ApproximateReceiveCount));
  }
  // If SQS refuses, the message comes back when the visibility timeout of the queue is over.
  await context
    .hide(queue, receiptHandle, seconds)
    .catch((error: unknown) => logEvent('delivery_failed', errorFacts(error)));
  return false;
}

function messageOf(body: string): DeliveryMessage | NewEvents | undefined {
  try {
    const message = JSON.parse(body) as Partial<DeliveryMessage & NewEvents>;
    const { ownerKey, subscriptionId, createdAt, eventId, position } = message;
    const areTexts = (...all: readonly unknown[]) => all.every((one) => typeof one === 'string');
    if (areTexts(ownerKey) && subscriptionId === undefined) return message as NewEvents;
    const isWhole = areTexts(ownerKey, subscriptionId, eventId, position) && typeof createdAt === 'number';
    return isWhole ? (message as DeliveryMessage) : undefined;
  } catch {
    return undefined;
  }
}
