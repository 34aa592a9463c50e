import { createHash } from 'node:crypto';
import type { FifoMessage, SendFifo } from '../tasks/aws/sqs.ts';
import { DAY, limits } from '../tasks/limits.ts';
import {
  type EventFacts,
  type EventItems,
  type LogEntry,
  type LogHead,
  type MatchedSubscription,
  type PlacedEntry,
  positionText,
  type SubscriptionStart,
} from '../tasks/table/event-items.ts';
import { type Filter, matches } from './match.ts';
import type { DeliveryMessage } from './ports.ts';

/**
 * The log of an owner's events. An entry first gets its position, in the head of the log; then its messages go into the queue; then
 * the entry goes into the log. No entry gets a position before all this is done for the entry before it: the next writer completes it. So
 * positions have no gaps, a reader of the log has read all up to the last entry that it sees, and a subscription gets its messages
 * in the order of the log, however many write at once or die between two steps.
 */
export interface EventLog {
  /** Undefined if nothing of the owner listens, or ever did. */
  append(owner: string, entry: LogEntry): Promise<number | undefined>;
  /** The head of the log, which is made if there is none. From then on, events of the owner are kept. */
  begin(owner: string): Promise<LogHead>;
  /** As many entries after a position, in order. Makes the log if there is none. */
  read(owner: string, position: number, most: number): Promise<LogPage>;
  /** The events that a subscription from this position gets from before it, and whether it misses others. */
  missed(owner: string, from: Missed): Promise<{ readonly events: readonly PlacedFacts[]; readonly all: boolean }>;
}

export interface LogPage {
  readonly entries: readonly PlacedEntry[];
  /** Where the page begins: the position asked for, or the first one that the log still has. */
  readonly after: number;
  /** The log does not have all entries after the position asked for. */
  readonly truncated: boolean;
}

export interface Missed {
  readonly after: number;
  /** @default the end of the log */
  readonly before?: number;
  /** Older ones are left out. In ms since the epoch. */
  readonly since: number;
  readonly filter: Filter;
}

export interface PlacedFacts extends EventFacts {
  readonly position: number;
}

export interface LogContext {
  readonly items: EventItems;
  readonly send: SendFifo;
  readonly now: () => number;
  /** The longest `ttl` of a task, in ms: an event is kept as long, and at least longer than any subscription. */
  readonly kept: number;
}

/** Each attempt finishes an entry of another writer. */
const ATTEMPTS = 20;
/** The most messages of SendMessageBatch (docs of SQS, "SendMessageBatch"). */
const BATCH = 10;
/** A message may wait in the queue for as long as its subscription lives, and then needs its entry. */
const LEAST_KEPT = limits.mcpEvents.ttl.max + DAY;
/** The head outlives all entries, and all cursors that clients have of them. */
const KEPT_HEADS = 3;

/** Thrown when other entries always came first, or when SQS refuses a message. The whole entry can be tried again. */
export class LogBusy extends Error {
  override readonly name = 'LogBusy';
}

export function eventLog({ items, send, now, kept: longestTtl }: LogContext): EventLog {
  const kept = Math.max(longestTtl, LEAST_KEPT);
  const expiry = (at: number, times = 1) => Math.ceil((at + times * kept) / 1_000);

  async function append(owner: string, entry: LogEntry): Promise<number | undefined> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const head = await items.head(owner);
      if (head === undefined) return undefined;
      const { last, pending, recent } = head;
      if (pending !== undefined && (await items.entry(owner, last)) === undefined) await settle(owner, last, pending);
      const name = entry.start === undefined ? shortName(entry.event) : '';
      const before = name === '' ? -1 : recent.indexOf(name);
      if (before !== -1) return last - before;
      const next = {
        last: last + 1,
        pending: entry,
        recent: [name, ...recent].slice(0, limits.mcpEvents.recent),
        expiresAt: expiry(now(), KEPT_HEADS),
      };
      if (!(await items.advance(owner, last, next))) continue;
      await settle(owner, next.last, entry);
      return next.last;
    }
    throw new LogBusy('Other entries of this owner came first');
  }

  /** Two may do this for one entry: the queue leaves out what it has, and the entry is the same. */
  async function settle(owner: string, position: number, entry: LogEntry): Promise<void> {
    if (entry.start !== undefined) await start(owner, position, entry.start, entry.event);
    else if (entry.event !== undefined) await fanOut(owner, position, entry.event);
    await items.putEntry(owner, position, entry, expiry(entry.at));
  }

  async function fanOut(owner: string, position: number, facts: EventFacts): Promise<void> {
    const subscriptions = (await items.matched(owner)).filter(
      (one) => one.started === true && one.refreshBefore > now() && matches(facts, one),
    );
    const messages = subscriptions.map((one) => messageOf(owner, one, facts.eventId, position));
    for (let from = 0; from < messages.length; from += BATCH) await sendAll(messages.slice(from, from + BATCH));
  }

  /** Sends what the subscription missed, then makes it one that gets each later entry. */
  async function start(
    owner: string,
    position: number,
    { id, createdAt, after, since }: SubscriptionStart,
    event: EventFacts | undefined,
  ): Promise<void> {
    const subscription = await items.subscription(owner, id);
    // It was ended, or ended and begun again, since this entry was made.
    if (subscription?.createdAt !== createdAt) return;
    const { events } = await missed(owner, { after, before: position, since, filter: subscription });
    // One at a time: of a batch, a later one may be accepted without an earlier one.
    for (const { eventId, position: at } of events) await sendAll([messageOf(owner, subscription, eventId, at)]);
    const isMissed = events.some(({ eventId }) => eventId === event?.eventId);
    if (event !== undefined && !isMissed) await sendAll([messageOf(owner, subscription, event.eventId, position)]);
    await items.changeSubscription(owner, id, createdAt, { started: true });
  }

  async function missed(owner: string, { after, before = Number.POSITIVE_INFINITY, since, filter }: Missed) {
    const events: PlacedFacts[] = [];
    let old = 0;
    for (let from = after; from + 1 < before; ) {
      const page = await items.entries(owner, from, limits.mcpEvents.replay);
      for (const { event, start: begun, position } of page) {
        if (position >= before || begun !== undefined || event === undefined || !matches(event, filter)) continue;
        if (event.at < since) old++;
        else events.push({ ...event, position });
      }
      const last = page.at(-1);
      if (last === undefined) break;
      from = last.position;
    }
    const { replay } = limits.mcpEvents;
    return { events: events.slice(-replay), all: old === 0 && events.length <= replay };
  }

  async function sendAll(messages: readonly FifoMessage[]): Promise<void> {
    const accepted = await send(messages);
    if (accepted.includes(false)) throw new LogBusy('SQS refused a message');
  }

  async function begin(owner: string): Promise<LogHead> {
    const expiresAt = expiry(now(), KEPT_HEADS);
    const head = await items.head(owner);
    if (head === undefined) {
      // Later than all positions of an earlier log of the owner.
      await items.createHead(owner, now(), expiresAt);
      return (await items.head(owner)) ?? { last: now(), recent: [], expiresAt };
    }
    if (head.expiresAt < expiry(now(), KEPT_HEADS - 1)) await items.keepHead(owner, expiresAt);
    return head;
  }

  return {
    append,
    begin,
    missed,
    async read(owner, position, most) {
      const entries = await items.entries(owner, position, most);
      const [first] = entries;
      if (first !== undefined) {
        return { entries, after: first.position - 1, truncated: first.position > position + 1 };
      }
      const { last, pending } = await begin(owner);
      // The last entry has a position, but its messages are not sent yet: it will be read later.
      const end = pending !== undefined && pending.at + kept > now() ? last - 1 : last;
      const isKnown = position === end || position === last;
      return { entries, after: isKnown ? position : end, truncated: !isKnown };
    },
  };
}

/** Sixty bits of the id, so that the head stays below 1 KB, which costs one write unit. */
const shortName = (event: EventFacts | undefined): string => event?.eventId.slice(-12) ?? '';

/** A subscription that is begun again gets an event again: the queue must not take it for a repeat. */
function messageOf(
  ownerKey: string,
  { id: subscriptionId, createdAt }: Pick<MatchedSubscription, 'id' | 'createdAt'>,
  eventId: string,
  position: number,
): FifoMessage {
  const message: DeliveryMessage = { ownerKey, subscriptionId, createdAt, eventId, position: positionText(position) };
  const id = createHash('sha256').update(`${subscriptionId}/${createdAt}/${eventId}`).digest('hex');
  return { group: subscriptionId, id, body: JSON.stringify(message) };
}
