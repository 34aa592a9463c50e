import type { FifoMessage, SendFifo } from '../tasks/aws/sqs.ts';
import { Unavailable } from '../tasks/errors.ts';
import type { EventItems } from '../tasks/table/events/items.ts';
import { type LogHead, type PlacedEntry, positionText } from '../tasks/table/events/log.ts';
import type { StoredSubscription } from '../tasks/table/events/subscription.ts';
import { matches } from './match.ts';
import { deliveryMessage } from './messages.ts';

/**
 * The messages of one subscription follow each other: only the next event that it has not got has a message in the queue, however
 * many wait, since SQS looks for messages among the first 120,000 only (docs/limits.md, "Of one owner"). `fan-out.ts` sends a
 * message to a subscription for which none is under way; what delivers that message sends the next.
 */
export interface Chain {
  /**
   * Sends the message for the next event of a subscription, if it waits for one. A second copy of a message does no harm: the
   * queue leaves it out, or it is done at once.
   *
   * @param read the entries that earlier messages have read to find events of it, since the last pause
   */
  goOn(owner: string, subscription: StoredSubscription | undefined, read?: number): Promise<void>;
  /** The same, if there was no sign of a message for an hour: one that SQS has lost would be the last. */
  revive(owner: string, subscription: StoredSubscription): Promise<void>;
  /** In order, up to 500. The entries at the end of the log may have their positions only. */
  entriesAfter(owner: string, after: number, most?: number): Promise<readonly PlacedEntry[]>;
}

export interface ChainContext {
  readonly items: EventItems;
  /** Sends messages of deliveries. */
  readonly send: SendFifo;
  readonly now: () => number;
}

/** Thrown when other entries always came first, or when SQS refuses a message. The whole act can be tried again. */
export class LogBusy extends Unavailable {
  override readonly name = 'LogBusy';

  constructor(why: string) {
    super(new Error(why));
  }
}

/** Entries of the log that are read to find the next one, which mostly is near: then twice as many each time. */
const PAGE = { first: 10, most: 100 };
/**
 * After so many entries, a search rests: subscriptions that want few of the events of a long log would use up the reads of a partition of
 * DynamoDB, which holds items of other owners, too. So all subscriptions of an owner read 2,250 units a second at most.
 */
const SEARCH = { entries: 200, rest: 1_000 };
export const MOST = 500;
/** Longer than two attempts are apart, and a hold. */
const SILENT = 3_600_000;

export function chain({ items, send, now }: ChainContext): Chain {
  async function goOn(owner: string, subscription: StoredSubscription | undefined, before = 0): Promise<void> {
    let one = subscription;
    let after = Number(one?.deliveredTo);
    let read = before;
    for (let most = PAGE.first; one !== undefined && isBehind(one); most = Math.min(2 * most, PAGE.most)) {
      const page = await entriesAfter(owner, after, most);
      const next = nextOf(page, one);
      // Mostly the first page has it: that is free.
      if (most > PAGE.first) read += page.length;
      const rests = read >= SEARCH.entries;
      const search = rests ? { notBefore: now() + SEARCH.rest } : { ...(read > 0 && { read }) };
      if (next !== undefined) return allSent(send, [deliveryMessage(owner, one, next.eventId, next.position, search)]);
      after = page.at(-1)?.position ?? Number.MAX_SAFE_INTEGER;
      const isEnd = positionText(after) >= one.lastMatched;
      if (!isEnd && !rests) continue;
      // None of these is for it, or not any more, since its token lost scopes, or they have expired.
      const to = isEnd ? one.lastMatched : positionText(after);
      one = await items.delivered(owner, one, to);
      if (rests && one !== undefined && isBehind(one))
        return allSent(send, [deliveryMessage(owner, one, '', to, search)]);
      after = Number(one?.deliveredTo);
    }
  }

  async function entriesAfter(owner: string, after: number, most = MOST): Promise<readonly PlacedEntry[]> {
    const entries = await items.entries(owner, after, most);
    if (entries.length > 0) return entries;
    const head = await items.head(owner);
    const pending = head === undefined ? [] : placed(head).filter(({ position }) => position > after);
    if (pending.length === 0) return [];
    // They may have come into the log meanwhile, and others behind them.
    const later = await items.entries(owner, after, most);
    return later.length > 0 ? later : pending;
  }

  return {
    entriesAfter,
    goOn,
    async revive(owner, subscription) {
      const { createdAt, lastDeliveryAt = 0, triedAt = 0 } = subscription;
      if (!isBehind(subscription) || Math.max(createdAt, lastDeliveryAt, triedAt) > now() - SILENT) return;
      await goOn(owner, subscription);
      await items.changeSubscription(owner, subscription, { triedAt: now() }, now());
    },
  };
}

/** Throws if a message is refused. @param messages at most ten */
export async function allSent(send: SendFifo, messages: readonly FifoMessage[]): Promise<void> {
  if (messages.length === 0) return;
  const accepted = await send(messages);
  if (accepted.includes(false)) throw new LogBusy('SQS refused a message');
}

/** The pending entries of a head, with their positions. */
export const placed = ({ last, pending = [] }: Pick<LogHead, 'last' | 'pending'>): readonly PlacedEntry[] =>
  pending.map((entry, index) => ({ ...entry, position: last - pending.length + 1 + index }));

const isBehind = ({ deliveredTo, lastMatched }: StoredSubscription): boolean => deliveredTo < lastMatched;

function nextOf(entries: readonly PlacedEntry[], subscription: StoredSubscription) {
  const { started = '', startEvent, since = 0, lastMatched } = subscription;
  for (const { event, start, position: number } of entries) {
    const position = positionText(number);
    if (event === undefined || position > lastMatched || !matches(event, subscription)) continue;
    const isStarts = event.eventId === startEvent;
    const isIts =
      start === undefined ? !isStarts && (position > started || event.at >= since) : position === started && isStarts;
    if (isIts) return { eventId: event.eventId, position };
  }
  return undefined;
}
