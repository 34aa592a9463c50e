import { createHash } from 'node:crypto';
import type { FifoMessage } from '../tasks/aws/sqs.ts';
import { type LogEntry, positionText } from '../tasks/table/events/log.ts';
import type { StoredSubscription } from '../tasks/table/events/subscription.ts';
import type { DeliveryMessage, EntriesToLog, NewEvents } from './ports.ts';

/** Its group is the log of the owner: the entries go into the log in the order in which they are sent. */
export function entriesMessage(ownerKey: string, entries: readonly LogEntry[]): FifoMessage {
  const message: EntriesToLog = { ownerKey, entries };
  const ids = entries.map(({ event }) => event?.eventId);
  return { group: `${ownerKey}/log`, id: hash(ownerKey, ...ids), body: JSON.stringify(message) };
}

/** Its group is the owner: the subscriptions get events in the order of the log. */
export function newEventsMessage(ownerKey: string, last: number): FifoMessage {
  const message: NewEvents = { ownerKey, last: positionText(last) };
  return { group: ownerKey, id: hash(ownerKey, message.last), body: JSON.stringify(message) };
}

/** A subscription that is begun again gets an event again: the queue must not take it for a repeat. */
export function deliveryMessage(
  ownerKey: string,
  { id: subscriptionId, createdAt }: Pick<StoredSubscription, 'id' | 'createdAt'>,
  eventId: string,
  position: string,
): FifoMessage {
  const message: DeliveryMessage = { ownerKey, subscriptionId, createdAt, eventId, position };
  return { group: subscriptionId, id: hash(subscriptionId, createdAt, position), body: JSON.stringify(message) };
}

const hash = (...parts: readonly unknown[]): string => createHash('sha256').update(parts.join('/')).digest('hex');
