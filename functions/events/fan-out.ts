import { randomUUID } from 'node:crypto';
import type { FifoMessage, SendFifo } from '../tasks/aws/sqs.ts';
import { limits } from '../tasks/limits.ts';
import { type PlacedEntry, positionText } from '../tasks/table/events/log.ts';
import type { StoredSubscription } from '../tasks/table/events/subscription.ts';
import { allSent, chain, MOST } from './chain.ts';
import { eventLog, headExpiry, type LogContext } from './log.ts';
import { matches } from './match.ts';
import { deliveryMessage, newEventsMessage } from './messages.ts';
import { hasNewEvents, newEvents } from './new-events.ts';
import type { NewEvents } from './ports.ts';

export interface FanOutContext extends LogContext {
  /** Sends messages about new events. They have a queue of their own, in which they wait for no receiver. */
  readonly sendNews: SendFifo;
}

/** In ms. Then another message goes on: the function ends after 30 s. */
const LONGEST = 10_000;
/** The most messages of SendMessageBatch (docs of SQS, "SendMessageBatch"). */
const BATCH = 10;
const { together } = limits.mcpEvents;

/**
 * Brings new events of an owner into its log, notes them for each subscription that they are for, and sends a message to those that
 * have none under way. The stream of all owners only keeps new events and sends the message (`publish.ts`), so however much work
 * they make, only events of the same owner wait for it.
 *
 * A message takes what there is, then notes another turn, and looks once more. Events that come before the note are seen by that
 * look, and later ones have another message, of the new turn: the queue takes one of each turn. So none is forgotten, and
 * about one message waits, however many events come.
 */
export function fanOut(context: FanOutContext): (message: NewEvents) => Promise<void> {
  const { items, now, send, sendNews } = context;
  const { append } = eventLog(context);
  const { entriesAfter, revive } = chain(context);

  return async ({ ownerKey: owner }) => {
    const begun = now();
    for (let from = (await items.fannedOut(owner))?.last ?? 0; ; ) {
      const fresh = await newEvents(items, owner, together);
      if (fresh.length > 0) await append(owner, ...fresh.map(({ place: _place, of: _of, ...entry }) => entry));
      const entries = await entriesAfter(owner, from);
      await bring(owner, entries, positionText(from));
      // After a death they come again: the log knows them, and their subscriptions do.
      await Promise.all(fresh.map(({ place, of }) => items.deleteNew(owner, place, of)));
      const last = entries.at(-1)?.position ?? from;
      const isLate = now() > begun + LONGEST;
      const isAll = fresh.length < together && entries.length < MOST;
      const turn = isLate || isAll ? randomUUID() : undefined;
      await items.noteFannedOut(owner, { last, ...(turn && { turn }) }, headExpiry(context));
      if (turn !== undefined) {
        if (!isAll || (await hasNewEvents(items, owner))) await allSent(sendNews, [newEventsMessage(owner, turn)]);
        return;
      }
      from = last;
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
        await allSent(send, messages);
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
