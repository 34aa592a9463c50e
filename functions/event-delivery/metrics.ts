import { logEvent, metricLines } from '../tasks/log.ts';
import type { Attempt } from './deliver.ts';
import type { QueueName } from './handle.ts';

const COUNTED = { delivered: 'EventsDelivered', failed: 'EventAttemptsFailed', given_up: 'EventsGivenUp' } as const;

/** The metrics of one attempt (docs/events.md). Times are in ms. */
export function measuresOf({ result, age, failing }: Attempt): Readonly<Record<string, number>> {
  return {
    [COUNTED[result]]: 1,
    ...(result === 'delivered' && { TimeToDelivery: Math.max(0, age) }),
    ...(result === 'failed' && { TimeDeliveryFails: Math.max(0, failing) }),
  };
}

export const measureLines = (attempt: Attempt, Server: string, now: number): string[] =>
  metricLines(measuresOf(attempt), { Server }, now);

/** The metric of a message that could not be handled. @param age in ms */
export const failureLines = (queue: QueueName, age: number, Server: string, now: number): string[] =>
  metricLines(
    { [queue === 'deliveries' ? 'TimeDeliveryFails' : 'TimeLoggingFails']: Math.max(0, age) },
    { Server },
    now,
  );

/** One line for each attempt. It never holds the URL: a client wrote it, and its query may be a secret. */
export function logAttempt({ result, message, status, error, age }: Attempt): void {
  const { ownerKey: owner, subscriptionId, eventId } = message;
  logEvent('delivery', { result, owner, subscriptionId, eventId, status, error, age }, 'log');
}
