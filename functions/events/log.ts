import { setTimeout } from 'node:timers/promises';
import { DAY, limits } from '../tasks/limits.ts';
import {
  type EventFacts,
  type LogEntry,
  type LogHead,
  type PlacedEntry,
  positionText,
  type SubscriptionStart,
} from '../tasks/table/events/log.ts';
import { type Chain, type ChainContext, chain, LogBusy, placed, SILENT } from './chain.ts';
import { type Filter, matches } from './match.ts';
import { newEventsMessage } from './messages.ts';

/**
 * The log of an owner's events. Some entries first get their positions, in the head of the log; then a message says so, for which
 * each subscription gets the events that are for it (`fan-out.ts`); then the entries go into the log, in their order. No other entry
 * gets a position before all this is done for them: the next writer completes it. So positions have no gaps, a reader of the log has
 * read all up to the last entry that it sees, and the messages of a log are in its order, however many write at once or die
 * between two steps.
 */
export interface EventLog {
  /**
   * Returns the position of the last one. Undefined if nothing of the owner listens, or ever did.
   *
   * @param entries a start, or up to `limits.mcpEvents.together` events, which cost each subscription one write
   */
  append(owner: string, ...entries: LogEntry[]): Promise<number | undefined>;
  /** The head of the log, which is made if there is none. From then on, events of the owner are kept. */
  begin(owner: string): Promise<LogHead>;
  /** As many entries after a position, in order. Makes the log if there is none. */
  read(owner: string, position: number, most: number): Promise<LogPage>;
  /** Sends what a subscription waits for, if the message for it may be lost, or its writer has died. */
  readonly revive: Chain['revive'];
}

export interface LogPage {
  readonly entries: readonly PlacedEntry[];
  /** Where the page begins: the position asked for, or the first one that the log still has. */
  readonly after: number;
  /** The log does not have all entries after the position asked for. */
  readonly truncated: boolean;
}

export interface LogContext extends ChainContext {
  /** Waits for a random time, up to so many ms. */
  readonly pause?: (longest: number) => Promise<unknown>;
  /** The longest `ttl` of a task, in ms: an event is kept as long, and at least longer than any subscription. */
  readonly kept: number;
}

/** Each attempt finishes the entries of another writer. With the pauses these are enough for a hundred that begin at once. */
const ATTEMPTS = 20;
/**
 * In ms. Pauses of random times let the others finish, and part those who meet. They are short at first: mostly the others are the
 * lanes of one shard, which hold up other owners meanwhile.
 *
 * @param attempt from 0 on
 */
const longestPause = (attempt: number): number => (attempt < 8 ? Math.min(100, 20 * 2 ** attempt) : 2_000);
/** The start of a subscription gives way to events: its client can make many, and then tries again. Times are in ms. */
const START = { attempts: 5, pause: 1_600, apart: 200 };
/** A message may wait in the queue for as long as its subscription lives, and then needs its entry. */
const LEAST_KEPT = limits.mcpEvents.ttl.max + DAY;
/** The head outlives all entries, and all cursors that clients have of them. */
const KEPT_HEADS = 3;

export function eventLog(context: LogContext): EventLog {
  const { items, now, pause = (longest) => setTimeout(Math.random() * longest) } = context;
  const { goOn, revive, sendAll } = chain(context);
  const kept = Math.max(context.kept, LEAST_KEPT);
  const expiry = (at: number, times = 1) => Math.ceil((at + times * kept) / 1_000);

  async function append(owner: string, ...entries: LogEntry[]): Promise<number | undefined> {
    const isStart = entries[0]?.start !== undefined;
    // When the last entry was first seen. The clock of its writer may be ahead.
    let seen = { last: 0, at: 0 };
    for (let attempt = 0; attempt < (isStart ? START.attempts : ATTEMPTS); attempt++) {
      const head = await settled(owner);
      if (head === undefined) return undefined;
      const { last, recent } = head;
      const latest = head.pending?.at(-1);
      if (seen.last !== last) seen = { last, at: now() };
      if (isStart && latest?.start !== undefined && now() < Math.min(latest.at, seen.at) + START.apart) {
        await pause(START.pause);
        continue;
      }
      const pending = isStart ? entries.map((one) => ({ ...one, at: now() })) : entries.filter(isNew(recent));
      if (pending.length === 0) return last - recent.indexOf(nameOf(entries.at(-1)));
      const names = pending.map(nameOf).reverse();
      const next = {
        last: last + pending.length,
        pending,
        // A start has no message about new events.
        ...(isStart ? head.rests && { rests: head.rests } : head.rests && { isFirst: true as const }),
        recent: [...names, ...recent].slice(0, limits.mcpEvents.recent - 1 + pending.length),
        expiresAt: expiry(now(), KEPT_HEADS),
      };
      if (await items.advance(owner, head, next)) {
        await settle(owner, next);
        return next.last - Math.max(0, names.indexOf(nameOf(entries.at(-1))));
      }
      await pause(isStart ? START.pause : longestPause(attempt));
    }
    throw new LogBusy('Other entries of this owner came first');
  }

  /** The head, once all is done for its entries, also if their writer has died. */
  async function settled(owner: string): Promise<LogHead | undefined> {
    const head = await items.head(owner);
    if (head?.pending === undefined) return head;
    // If it cannot be read, the entries are written again: polls may use up the reads of the log, but not its writes.
    if ((await items.entry(owner, head.last).catch(() => undefined)) !== undefined) return head;
    await settle(owner, head);
    return head;
  }

  /** Completes the pending entries. Two writers may do so at once: both write the same. */
  async function settle(owner: string, head: LogHead): Promise<void> {
    const entries = placed(head);
    if (entries[0]?.start === undefined) {
      // While a message for events before these is under way, it brings these, too: more would fill the queue.
      await sendAll([head.isFirst ? newEventsMessage(owner, head.last) : againMessage(owner, now())]);
    }
    for (const { position, ...entry } of entries) {
      if (entry.start !== undefined) await start(owner, position, entry.start, entry.event);
      // One after the other: a reader takes an entry as a sign that all before it are there.
      await items.putEntry(owner, position, entry, expiry(entry.at));
    }
  }

  /** Sends the first message for what the subscription missed, and makes it one that gets each later entry. */
  async function start(
    owner: string,
    position: number,
    { id, createdAt, after, since }: SubscriptionStart,
    event: EventFacts | undefined,
  ): Promise<void> {
    const subscription = await items.subscription(owner, id);
    // It was ended, or ended and begun again, since this entry was made.
    if (subscription?.createdAt !== createdAt) return;
    const { events, all } = await missed(owner, subscription, { after, before: position, since });
    // It may have come into the log since the subscription began.
    const isMissed = events.some(({ eventId }) => eventId === event?.eventId);
    const startEvent = isMissed ? '' : (event?.eventId ?? '');
    const its = [...events.map((one) => one.position), ...(startEvent === '' ? [] : [position])];
    const begun = await items.start(owner, subscription, {
      started: positionText(position),
      startEvent,
      since,
      truncated: subscription.truncated || after > Number(subscription.deliveredTo) || !all,
      deliveredTo: positionText((its[0] ?? after + 1) - 1),
      lastMatched: positionText(its.at(-1) ?? after),
    });
    // It may have another start: the request that began it has died, and came again.
    if (begun?.started === positionText(position)) await goOn(owner, begun);
  }

  /** The events between two positions that a subscription gets, and whether it misses others: those before `since`. */
  async function missed(
    owner: string,
    filter: Filter,
    { after, before, since }: { readonly after: number; readonly before: number; readonly since: number },
  ) {
    const events: (EventFacts & { readonly position: number })[] = [];
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

  async function begin(owner: string): Promise<LogHead> {
    const expiresAt = expiry(now(), KEPT_HEADS);
    const head = await items.head(owner);
    if (head === undefined) {
      // Later than all positions of an earlier log of the owner.
      await items.createHead(owner, now(), expiresAt);
      return (await items.head(owner)) ?? { last: now(), recent: [], rests: true, expiresAt };
    }
    if (head.expiresAt < expiry(now(), KEPT_HEADS - 1)) await items.keepHead(owner, expiresAt);
    return head;
  }

  return {
    append,
    begin,
    async revive(owner, subscription) {
      const head = await settled(owner);
      await revive(owner, subscription);
      // The message about the last events may be lost, too.
      const isOld = (head?.pending?.at(-1)?.at ?? now()) < now() - SILENT;
      if (head === undefined || !isOld || (await items.fannedOut(owner)) >= head.last) return;
      await sendAll([againMessage(owner, now())]);
    },
    async read(owner, position, most) {
      const entries = await items.entries(owner, position, most);
      const [first] = entries;
      if (first !== undefined) {
        return { entries, after: first.position - 1, truncated: first.position > position + 1 };
      }
      const { last, pending = [] } = await begin(owner);
      // The last entries have positions, but their messages are not sent yet: they will be read later.
      const end = last - pending.filter(({ at }) => at + kept > now()).length;
      const isKnown = position >= end && position <= last;
      return { entries, after: isKnown ? position : end, truncated: !isKnown };
    },
  };
}

/** For a message that may be lost: SQS takes one in five minutes. */
const againMessage = (owner: string, now: number) => newEventsMessage(owner, 'again', Math.floor(now / AGAIN));
const AGAIN = 300_000;
/** Sixty bits of the id, so that the head of one event stays below 1 KB, which costs one write unit. A start has no name. */
const nameOf = (entry: LogEntry | undefined): string =>
  (entry?.start === undefined && entry?.event?.eventId.slice(-12)) || '';
const isNew = (recent: readonly string[]) => (entry: LogEntry) => !recent.includes(nameOf(entry));
