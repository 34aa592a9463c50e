import type { FifoMessage } from '../tasks/aws/sqs.ts';
import { type PlacedEntry, positionText, type StoredSubscription } from '../tasks/table/event-items.ts';
import { type ChainContext, chain, messageOf, placed } from './chain.ts';
import { matches } from './match.ts';
import type { NewEvents } from './ports.ts';

/** The most messages of SendMessageBatch (docs of SQS, "SendMessageBatch"). */
const BATCH = 10;

/**
 * Notes new events of a log for each subscription that they are for, and sends a message to those that have none under way. The stream
 * of the table leaves this to a message, so that an owner with many subscriptions keeps only its own events waiting. The
 * messages of a log come in its order, one at a time.
 */
export function fanOut(context: ChainContext): (message: NewEvents) => Promise<void> {
  const { items, now } = context;
  const { revive, sendAll } = chain(context);

  return async ({ ownerKey: owner, first, last }) => {
    const events = (await entriesOf(owner, Number(first), Number(last))).flatMap(({ event, start, position }) =>
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
    await Promise.all(
      batches.map(async (batch) => {
        const messages: FifoMessage[] = [];
        for (const { one, its, last } of batch) {
          const live = await items.match(owner, one, last);
          if (live === undefined) continue;
          const next = isFirst(live, last) && its.find(({ position }) => position > live.deliveredTo);
          if (next) messages.push(messageOf(owner, live, next.event.eventId, next.position));
          else await revive(owner, live);
        }
        await sendAll(messages);
      }),
    );
  };

  /** They are still pending, or in the log. */
  async function entriesOf(owner: string, first: number, last: number): Promise<readonly PlacedEntry[]> {
    const read = () => items.entries(owner, first - 1, last - first + 1);
    const logged = await read();
    if (logged.at(-1)?.position === last) return logged;
    const head = await items.head(owner);
    const pending = head === undefined ? [] : placed(head);
    return pending.at(-1)?.position === last ? pending : read();
  }
}

/**
 * Whether no message is under way: while the subscription waits for an event before these, one is, and brings these, too.
 * So it is when their message comes again.
 *
 * @param last the position of the last one for it
 */
const isFirst = ({ lastMatched, matchedBefore = '', deliveredTo }: StoredSubscription, last: string): boolean =>
  lastMatched === last && matchedBefore <= deliveredTo && deliveredTo < last;
