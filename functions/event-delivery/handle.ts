import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import type { DeliveryMessage } from '../events/ports.ts';
import { errorFacts, logEvent } from '../tasks/log.ts';
import { type DeliveryContext, deliver } from './deliver.ts';

export interface QueueContext extends DeliveryContext {
  /** Hides a message of the queue, and so all later ones of its group. @param seconds a whole number, up to 12 hours */
  readonly hide: (receiptHandle: string, seconds: number) => Promise<void>;
}

/**
 * Delivers messages of a FIFO queue in their order, up to the first that has to come again. That one and all behind it
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
  try {
    const verdict = await deliver(message, Number(attributes.SentTimestamp), context);
    if (verdict === 'done') return true;
    await context.hide(receiptHandle, Math.ceil(verdict.again / 1_000));
  } catch (error) {
    // The message comes back when the visibility timeout of the queue is over.
    logEvent('delivery_failed', errorFacts(error));
  }
  return false;
}

function messageOf(body: string): DeliveryMessage | undefined {
  try {
    const { createdAt, ...names } = JSON.parse(body) as Record<keyof DeliveryMessage, unknown>;
    const { ownerKey, subscriptionId, eventId, position } = names;
    const isWhole = [ownerKey, subscriptionId, eventId, position].every((one) => typeof one === 'string');
    return isWhole && typeof createdAt === 'number' ? ({ ...names, createdAt } as DeliveryMessage) : undefined;
  } catch {
    return undefined;
  }
}
