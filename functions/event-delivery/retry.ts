import type { Subscription } from '../events/ports.ts';
import { DAY } from '../tasks/limits.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Between two attempts, in ms. A receiver that answers 503 while it stores its subscription is ready within seconds. */
const RETRY = { min: 1 * SECOND, max: 15 * MINUTE };
/** SQS keeps a message for 14 days at most. The last attempt comes before, and says that it was the last. */
const GIVE_UP = 14 * DAY - 60 * MINUTE;

/**
 * When to try again, in ms from now: each wait is twice as long as all attempts and waits so far, so three times the wait before
 * it. It needs no count of attempts, which messages that were held do not have.
 */
export function retryAfter({ failedSince }: Pick<Subscription, 'failedSince'>, now: number): number {
  return Math.min(RETRY.max, Math.max(RETRY.min, 2 * (now - (failedSince ?? now))));
}

/**
 * For how long a receiver rests that answered within this time, in ms, whatever it answered. Of all posts at once, slow receivers then take
 * a quarter of the places that they would take.
 */
export const restAfter = (took: number): number => (took < SECOND ? 0 : 3 * took);

export const isTooOld = (sentAt: number, now: number): boolean => now >= sentAt + GIVE_UP;

/** For how long to hold events of an owner who is busy, in ms. */
export interface Hold {
  /** Without a request of the owner. */
  readonly quiet: number;
  /** After the event. */
  readonly most: number;
}

/** How long an event is still held, in ms; 0: it may be sent. */
export function heldFor(
  { quiet, most }: Hold,
  { happenedAt, lastRequest, now }: { happenedAt: number; lastRequest: number | undefined; now: number },
): number {
  if (lastRequest === undefined) return 0;
  return Math.max(0, Math.min(lastRequest + quiet, happenedAt + most) - now);
}
