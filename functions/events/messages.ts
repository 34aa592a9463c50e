import { createHash } from 'node:crypto';
import type { FifoMessage } from '../tasks/aws/sqs.ts';
import type { StoredSubscription } from '../tasks/table/events/subscription.ts';
import type { DeliveryMessage, NewEvents } from './ports.ts';

/**
 * Its group is the owner: one after the other brings events into the log. The queue takes one in five minutes of each turn
 * (`fan-out.ts`).
 */
export function newEventsMessage(ownerKey: string, turn: string): FifoMessage {
  const message: NewEvents = { ownerKey };
  return { group: ownerKey, id: hash(ownerKey, turn), body: JSON.stringify(message) };
}

/**
 * A subscription that is begun again gets an event again: the queue must not take it for a repeat. Its group is another one, too, so that
 * it does not wait for a receiver that the earlier one could not reach.
 */
export function deliveryMessage(
  ownerKey: string,
  { id: subscriptionId, createdAt }: Pick<StoredSubscription, 'id' | 'createdAt'>,
  eventId: string,
  position: string,
  search: Pick<DeliveryMessage, 'read' | 'notBefore'> = {},
): FifoMessage {
  const message: DeliveryMessage = { ownerKey, subscriptionId, createdAt, eventId, position, ...search };
  const group = `${subscriptionId}/${createdAt}`;
  return { group, id: hash(subscriptionId, createdAt, position), body: JSON.stringify(message) };
}

const hash = (...parts: readonly unknown[]): string => createHash('sha256').update(parts.join('/')).digest('hex');
