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
import { type Chain, type ChainContext, chain, LogBusy, placed } from './chain.ts';
import { type Filter, matches } from './match.ts';

/**
 * The log of an owner's events. Some entries first get their positions, in the head of the log; then they go into the log, in their
 * order. No other entry gets a position before that is done for them: the next writer completes it. So positions have no gaps, and a
 * reader of the log has read all up to the last entry that it sees, however many write at once or die between two steps. Requests
 * write the starts of subscriptions, and the message about new events writes the events (`fan-out.ts`).
 */
export interface EventLog {
  /** @param entries a start, or up to `limits.mcpEvents.together` events. Those that the log has are left out */
  append(owner: string, ...entries: LogEntry[]): Promise<void>;
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

/** Each attempt finishes the entries of another writer. */
const ATTEMPTS = 20;
/** In ms. Pauses of random times let the others finish. @param attempt from 0 on */
const longestPause = (attempt: number): number => Math.min(2_000, 20 * 2 ** attempt);
/** The start of a subscription gives way to events: its client can make many, and then tries again. Times are in ms. */
const START = { attempts: 5, pause: 1_600, apart: 200 };
/** A message may wait in the queue for as long as its subscription lives, and then needs its entry. */
const LEAST_KEPT = limits.mcpEvents.ttl.max + DAY;
/** The head outlives all entries, and all cursors that clients have of them. */
const KEPT_HEADS = 3;

/** Until when the head of a log is kept, and how far it is fanned out. In seconds since the epoch. */
export const headExpiry = ({ kept, now }: Pick<LogContext, 'kept' | 'now'>): number =>
  expiryOf(kept, now(), KEPT_HEADS);
const expiryOf = (kept: number, at: number, times = 1) => Math.ceil((at + times * Math.max(kept, LEAST_KEPT)) / 1_000);

export function eventLog(context: LogContext): EventLog {
  const { items, now, pause = (longest) => setTimeout(Math.random() * longest) } = context;
  const { goOn, revive } = chain(context);
  const kept = Math.max(context.kept, LEAST_KEPT);

  async function append(owner: string, ...entries: LogEntry[]): Promise<void> {
    const isStart = entries[0]?.start !== undefined;
    // When the last entry was first seen. The clock of its writer may be ahead.
    let seen = { last: 0, at: 0 };
    for (let attempt = 0; attempt < (isStart ? START.attempts : ATTEMPTS); attempt++) {
      const head = await settled(owner);
      if (head === undefined) return;
      const { last, recent } = head;
      const latest = head.pending?.at(-1);
      if (seen.last !== last) seen = { last, at: now() };
      if (isStart && latest?.start !== undefined && now() < Math.min(latest.at, seen.at) + START.apart) {
        await pause(START.pause);
        continue;
      }
      const pending = isStart ? entries.map((one) => ({ ...one, at: now() })) : entries.filter(isNew(recent));
      if (pending.length === 0) return;
      const next = {
        last: last + pending.length,
        pending,
        recent: [...pending.flatMap(nameOf).reverse(), ...recent].slice(
          0,
          limits.mcpEvents.recent - 1 + pending.length,
        ),
        // Only an event keeps the note of the fan-out longer, too.
        expiresAt: isStart ? head.expiresAt : headExpiry(context),
      };
      if (await items.advance(owner, last, next)) return settle(owner, next);
      await pause(isStart ? START.pause : longestPause(attempt));
    }
    throw new LogBusy('Other entries of this owner came first');
  }

  /** The head, once all is done for its entries, also if their writer has died. */
  async function settled(owner: string): Promise<LogHead | undefined> {
    const head = await items.head(owner);
    if (head?.pending === undefined || (await items.entry(owner, head.last)) !== undefined) return head;
    await settle(owner, head);
    return head;
  }

  /** Completes the pending entries. Two writers may do so at once: both write the same. */
  async function settle(owner: string, head: LogHead): Promise<void> {
    for (const { position, ...entry } of placed(head)) {
      if (entry.start !== undefined) await start(owner, position, entry.start, entry.event);
      // One after the other: a reader takes an entry as a sign that all before it are there.
      await items.putEntry(owner, position, entry, expiryOf(kept, entry.at));
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
    const expiresAt = headExpiry(context);
    const head = await items.head(owner);
    if (head === undefined) {
      await items.keepFannedOut(owner, expiresAt);
      // Later than all positions of an earlier log of the owner.
      await items.createHead(owner, now(), expiresAt);
      return (await items.head(owner)) ?? { last: now(), recent: [], expiresAt };
    }
    if (head.expiresAt < expiryOf(kept, now(), KEPT_HEADS - 1)) {
      await items.keepFannedOut(owner, expiresAt);
      await items.keepHead(owner, expiresAt);
    }
    return head;
  }

  return {
    append,
    begin,
    async revive(owner, subscription) {
      await settled(owner);
      await revive(owner, subscription);
    },
    async read(owner, position, most) {
      const found = pageFrom(await items.entries(owner, position, most), position);
      if (found !== undefined) return found;
      const { last, pending = [] } = await begin(owner);
      // The last entries have positions, but their messages are not sent yet: they will be read later.
      const end = last - pending.filter(({ at }) => at + kept > now()).length;
      const isKnown = position >= end && position <= last;
      // The first entries may have come into the log meanwhile.
      const later = isKnown ? undefined : pageFrom(await items.entries(owner, position, most), position);
      return later ?? { entries: [], after: isKnown ? position : end, truncated: !isKnown };
    },
  };
}

function pageFrom(entries: readonly PlacedEntry[], position: number): LogPage | undefined {
  const [first] = entries;
  return first && { entries, after: first.position - 1, truncated: first.position > position + 1 };
}

/** Sixty bits of the id, so that the head of one event stays below 1 KB, which costs one write unit. A start has no name. */
const nameOf = ({ start, event }: LogEntry): string[] =>
  start !== undefined || event === undefined ? [] : [event.eventId.slice(-12)];
const isNew = (recent: readonly string[]) => (entry: LogEntry) => !nameOf(entry).some((name) => recent.includes(name));
