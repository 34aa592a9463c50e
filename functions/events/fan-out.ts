import type { FifoMessage } from '../tasks/aws/sqs.ts';
import { type PlacedEntry, positionText } from '../tasks/table/events/log.ts';
import type { StoredSubscription } from '../tasks/table/events/subscription.ts';
import { type ChainContext, chain } from './chain.ts';
import { matches } from './match.ts';
import { deliveryMessage, newEventsMessage } from './messages.ts';
import type { NewEvents } from './ports.ts';

/** In ms. Then another message goes on: the function ends after 30 s. */
const LONGEST = 10_000;
/** The most messages of SendMessageBatch (docs of SQS, "SendMessageBatch"). */
const BATCH = 10;

/**
 * Notes new events of a log for each subscription that they are for, and sends a message to those that have none under way. The stream
 * of the table leaves this to a message, so that an owner with many subscriptions keeps only its own events waiting. The
 * message brings all events after the noted position, also those that come meanwhile, which mostly have no message of their own
 * (`log.ts`).
 */
export function fanOut(context: ChainContext): (message: NewEvents) => Promise<void> {
  const { items, now } = context;
  const { entriesAfter, revive, sendAll } = chain(context);

  return async ({ ownerKey: owner }) => {
    const begun = now();
    for (let from = await items.fannedOut(owner); ; ) {
      let entries = await entriesAfter(owner, from);
      if (entries.length === 0) {
        if (await items.rest(owner, from)) return;
        entries = await entriesAfter(owner, from);
      }
      const to = entries.at(-1)?.position;
      // The log has expired.
      if (to === undefined) return;
      await bring(owner, entries, positionText(from));
      await items.noteFannedOut(owner, to, now());
      if (now() > begun + LONGEST) return sendAll([newEventsMessage(owner, 'more', to)]);
      from = to;
    }
  };

  /** @param from the position before these entries. After a death more may follow it, but it stays the same */
  async function bring(owner: string, entries: readonly PlacedEntry[], from: string): Promise<void> {
    const events = entries.flatMap(({ event, start, position }) =>
      event === undefined || start !== undefined ? [] : [{ event, position: positionText(position) }],
    );
    if (events.length === 0) return;
    const matched = (await items.matched(owner)).flatMap((one) => {
      const { started, startEvent, refreshBefore } = one;
      if (started === undefined || refreshBefore <= now()) return [];
      // Its start has brought it what is before that.
      const its = events.filter(
        ({ event, position }) => position > started && startEvent !== event.eventId && matches(event, one),
      );
      const last = its.at(-1);
      return last === undefined ? [] : [{ one, its, last: last.position }];
    });
    const batches = Array.from({ length: Math.ceil(matched.length / BATCH) }, (_, batch) =>
      matched.slice(batch * BATCH, (batch + 1) * BATCH),
    );
    const done = await Promise.allSettled(
      batches.map(async (batch) => {
        const messages: FifoMessage[] = [];
        for (const { one, its, last } of batch) {
          const live = await items.match(owner, one, { from, last });
          if (live === undefined) continue;
          const next = isFirst(live, from) && its.find(({ position }) => position > live.deliveredTo);
          if (next) messages.push(deliveryMessage(owner, live, next.event.eventId, next.position));
          else await revive(owner, live);
        }
        await sendAll(messages);
      }),
    );
    // None goes on beside the repeat of the message.
    for (const one of done) if (one.status === 'rejected') throw one.reason;
  }
}

/**
 * Whether no message is under way: while the subscription waits for an event before these, one is, and brings these, too.
 *
 * @param from the position before these events
 */
const isFirst = (
  { lastMatched, matchedBefore = '', matchedFrom, deliveredTo }: StoredSubscription,
  from: string,
): boolean => matchedFrom === from && matchedBefore <= deliveredTo && deliveredTo < lastMatched;
