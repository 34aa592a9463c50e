import { randomUUID } from 'node:crypto';
import { DAY, limits } from '../tasks/limits.ts';
import type { NewEvent, NewIn } from '../tasks/table/events/log.ts';
import { allSent } from './chain.ts';
import type { FanOutContext } from './fan-out.ts';
import { newEventsMessage } from './messages.ts';

/** Longer than a message waits in the queue. In ms. */
const KEPT = limits.mcpEvents.ttl.max + DAY;

/**
 * Keeps new events of an owner, and sends the message that brings them into its log. All owners wait for this, so it does the same few
 * things whatever the owner has: it waits for no other writer, and what clients do reads and writes other partition keys.
 * Events that come again while they are not in the log are kept once. What DynamoDB refuses for this owner delays no other one: see
 * `new-events.ts`.
 */
export function eventPublisher({
  items,
  now,
  sendNews,
}: Pick<FanOutContext, 'items' | 'now' | 'sendNews'>): (owner: string, events: readonly NewEvent[]) => Promise<void> {
  return async (owner, events) => {
    // If it cannot be read, something may listen. If nothing does, the fan-out only deletes the events.
    const listens = await items.fannedOut(owner).then(
      (found) => found !== undefined,
      () => true,
    );
    if (!listens) return;
    const expiresAt = Math.ceil((now() + KEPT) / 1_000);
    const byTask = Map.groupBy(events, ({ event }) => event?.taskId);
    // The events of one task follow each other: its end must not come into the log before its question.
    await Promise.all(
      Array.from(byTask.values(), async (its) => {
        for (const one of its) {
          const put = (into: NewIn) => items.putNew(owner, one, expiresAt, into);
          await put('first').catch(() => put('second'));
        }
      }),
    );
    // Read after the events are there: see `fan-out.ts`.
    const noted = await items.fannedOut(owner).catch(() => undefined);
    const turn = noted?.turn ?? randomUUID();
    await allSent(sendNews, [newEventsMessage(owner, turn)]);
  };
}
