import { positionText } from '../tasks/table/events/log.ts';
import type { NewSubscription } from '../tasks/table/events/subscription.ts';
import { type ChainContext, chain, placed } from './chain.ts';
import { occurrenceOf } from './occurrence.ts';
import type { DeliveryError, EventName, EventsStore, Subscription } from './ports.ts';

/** What delivery reads and writes, by the items of the table. */
export function eventsStore(context: ChainContext): EventsStore {
  const { items, now } = context;
  const { goOn } = chain(context);
  return {
    async subscription(ownerKey, id) {
      const [stored, url] = await Promise.all([items.subscription(ownerKey, id), items.url(ownerKey, id)]);
      if (stored === undefined || url === undefined || stored.refreshBefore <= now()) return undefined;
      return subscriptionOf(ownerKey, { ...stored, url }, now());
    },
    async occurrence(ownerKey, text) {
      const position = Number(text);
      // A message is in the queue before its entry is in the log.
      const entry = (await items.entry(ownerKey, position)) ?? (await pendingAt(ownerKey, position));
      if (entry?.event === undefined) return undefined;
      return { body: occurrenceOf(entry.event, entry.summary, position), scopes: entry.event.scopes ?? [] };
    },
    async delivered({ ownerKey, ...to }, { position, givenUp, answered = !givenUp, slowUntil }, read) {
      const taken = { at: givenUp ? undefined : now(), answered, slowUntil };
      await goOn(ownerKey, await items.delivered(ownerKey, to, position, taken), read);
    },
    failed: ({ ownerKey, ...to }, error, at) => items.failed(ownerKey, to, error, at),
    lastRequest: (ownerKey) => items.seen(ownerKey),
  };

  async function pendingAt(owner: string, position: number) {
    const head = await items.head(owner);
    if (head === undefined || head.last < position) return undefined;
    // Later entries got their positions meanwhile: then this one is in the log.
    return placed(head).find((one) => one.position === position) ?? items.entry(owner, position);
  }
}

function subscriptionOf(ownerKey: string, stored: NewSubscription, now: number): Subscription {
  const { id, createdAt, name, url, secrets, secretUntil = 0, refreshBefore, scopes, deliveredTo } = stored;
  const { arguments: args, failedSince, lastError, lastDeliveryAt, slowUntil } = stored;
  return {
    id,
    createdAt,
    ownerKey,
    name: name as EventName,
    arguments: args,
    url,
    refreshBefore,
    scopes,
    deliveredTo,
    secrets: secretUntil > now ? secrets : secrets.slice(0, 1),
    ...(slowUntil !== undefined && { slowUntil }),
    ...(failedSince !== undefined && { failedSince }),
    ...(lastError !== undefined && { lastError: lastError as DeliveryError }),
    ...(lastDeliveryAt !== undefined && { lastDeliveryAt }),
  };
}

/** The number of a cursor that this server made. Any other is before all events. */
export const positionOf = (cursor: string): number => (/^\d{16}$/.test(cursor) ? Number(cursor) : 0);
export const cursorOf = positionText;
