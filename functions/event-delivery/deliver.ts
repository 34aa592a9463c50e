import { sufficient } from '../authorizer/scopes.ts';
import type { DeliveryError, DeliveryMessage, EventsStore, Subscription } from '../events/ports.ts';
import { type Answer, errorOf, type SignedPost } from '../events/post/post.ts';
import { errorFacts, logEvent } from '../tasks/log.ts';
import { type Hold, heldFor, isTooOld, restAfter, retryAfter } from './retry.ts';

/** The outside of delivery. Tests replace single members. */
export interface DeliveryContext {
  readonly store: EventsStore;
  readonly post: (post: SignedPost) => Promise<Answer>;
  /** Undefined: no event is held. */
  readonly hold: Hold | undefined;
  /** In ms since the epoch. */
  readonly now: () => number;
  /** Measures each attempt. */
  readonly measure: (attempt: Attempt) => void;
}

export interface Attempt {
  readonly result: 'delivered' | 'failed' | 'given_up';
  readonly message: DeliveryMessage;
  /** The HTTP status, if there was an answer. */
  readonly status?: number;
  readonly error?: DeliveryError;
  /** From the event until now, in ms. */
  readonly age: number;
  /** For how long all attempts for this subscription have failed, in ms. */
  readonly failing: number;
}

/** The outcome for a message: it leaves the queue, or comes again after `again` ms, with all later ones of its subscription. */
export type Verdict = 'done' | { readonly again: number };

/** Gone and too large: the same event would get the same answer. */
const FINAL: readonly number[] = [410, 413];

/**
 * One attempt to deliver one event. A message is done when its subscription has ended, or when its receiver took the event, or it was
 * given up, and the message for the next event is in the queue. Rejects if the store cannot be read, or not note that: then the
 * message has to come again.
 */
export async function deliver(
  message: DeliveryMessage,
  sentAt: number,
  { store, post, hold, now, measure }: DeliveryContext,
): Promise<Verdict> {
  const { ownerKey, subscriptionId, eventId, position, read, notBefore = 0 } = message;
  if (notBefore > now()) return { again: notBefore - now() };
  const [subscription, occurrence] = await Promise.all([
    store.subscription(ownerKey, subscriptionId),
    store.occurrence(ownerKey, position),
  ]);
  if (subscription === undefined || !isFor(subscription, message, now())) return 'done';
  const goOn = async (at: Parameters<typeof store.delivered>[1]): Promise<Verdict> => {
    await store.delivered(subscription, at, read);
    return 'done';
  };
  const givenUp = { position, givenUp: true } as const;
  // A repeat. Who delivered it may have died before the message for the next event was in the queue.
  if (position <= subscription.deliveredTo) return goOn(givenUp);
  if (occurrence === undefined) {
    logEvent('event_expired', { subscriptionId, eventId }, 'warn');
    return goOn(givenUp);
  }
  // The token of the last subscribe does not allow the tool of this task any more.
  if (!sufficient(occurrence.scopes, subscription.scopes ?? [])) return goOn(givenUp);
  const happenedAt = Date.parse(String(occurrence.body.timestamp));
  const held = Math.max(await heldUntilQuiet(), (subscription.slowUntil ?? 0) - now());
  if (held > 0) return { again: held };

  const { url, secrets } = subscription;
  const body = JSON.stringify(occurrence.body);
  const begun = now();
  const answer = await post({ url, secrets, webhookId: eventId, subscriptionId, body });
  const error = errorOf(answer);
  const at = now();
  const facts = {
    message,
    age: at - happenedAt,
    failing: error === undefined ? 0 : at - (subscription.failedSince ?? at),
    ...('status' in answer && { status: answer.status }),
    ...(error !== undefined && { error }),
  };
  const rest = restAfter(at - begun);
  const resting = rest > 0 && { slowUntil: at + rest };
  if (error === undefined) {
    measure({ ...facts, result: 'delivered' });
    return goOn({ position, ...resting });
  }
  const isFinal = 'status' in answer && FINAL.includes(answer.status);
  if (isFinal || isTooOld(sentAt, at)) {
    measure({ ...facts, result: 'given_up' });
    // Who answers so is not away: the next event has its own first attempts.
    return goOn({ ...givenUp, ...(isFinal && { answered: true }), ...resting });
  }
  // It comes again in any case: that the status is behind must not hold it up for longer.
  await store
    .failed(subscription, error, at)
    .catch((unnoted: unknown) => logEvent('delivery_unnoted', errorFacts(unnoted), 'warn'));
  measure({ ...facts, result: 'failed' });
  return { again: Math.max(retryAfter(subscription, at), rest) };

  async function heldUntilQuiet(): Promise<number> {
    if (hold === undefined || subscription?.hold === false || now() >= happenedAt + hold.most) return 0;
    return heldFor(hold, { happenedAt, lastRequest: await store.lastRequest(ownerKey), now: now() });
  }
}

/** A receiver refuses for good what comes after the end of its subscription, by its own clock. */
function isFor({ createdAt, refreshBefore }: Subscription, message: DeliveryMessage, now: number): boolean {
  return (refreshBefore === null || now < refreshBefore) && createdAt === message.createdAt;
}
