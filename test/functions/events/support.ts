import { expect } from 'vitest';
import { deliver } from '../../../functions/event-delivery/deliver.ts';
import { fanOut } from '../../../functions/events/fan-out.ts';
import { eventLog } from '../../../functions/events/log.ts';
import type { DeliveryMessage, NewEvents } from '../../../functions/events/ports.ts';
import { eventPublisher } from '../../../functions/events/publish.ts';
import { eventsStore } from '../../../functions/events/store.ts';
import type { FifoMessage } from '../../../functions/tasks/aws/sqs.ts';
import { limits } from '../../../functions/tasks/limits.ts';
import { type EventItems, eventItems } from '../../../functions/tasks/table/events/items.ts';
import { type EventFacts, type LogEntry, positionText } from '../../../functions/tasks/table/events/log.ts';
import type { NewSubscription } from '../../../functions/tasks/table/events/subscription.ts';
import { memoryEngine, TABLE } from '../../support/engine/memory.ts';

export const OWNER = 'owner#a';
export const START = 1_700_000_000_000;
export const DAY = 86_400_000;
export class Died extends Error {}

export const finished = (n: number, more: Partial<EventFacts> = {}): EventFacts => ({
  eventId: `evt_${String(n).padStart(26, '0')}`,
  name: 'task.finished',
  at: START + n,
  taskId: `t${n}`,
  tool: 'render',
  createdAt: START,
  status: 'completed',
  ...more,
});

/** A FIFO queue that takes each id once in five minutes. */
function fakeQueue(clock: { readonly now: number }) {
  const known = new Map<string, number>();
  const sent: FifoMessage[] = [];
  /** Messages about new events that are not handled yet. */
  const news: FifoMessage[] = [];
  let turn: Promise<void> = Promise.resolve();
  const queue = {
    sent,
    news,
    /** Handles one after the other. One whose handler dies comes again. */
    handleNews(handle: (message: NewEvents) => Promise<void>): Promise<void> {
      const all = async () => {
        for (let [one] = news; one !== undefined && !queue.holds; [one] = news) {
          await handle(JSON.parse(one.body));
          news.shift();
        }
      };
      turn = turn.then(all, all);
      return turn;
    },
    /** How many messages it refuses from now on. */
    refuses: 0,
    /** Keeps messages about new events unhandled. */
    holds: false,
    /** How many messages about new events it loses from now on. */
    loses: 0,
    accept(message: FifoMessage) {
      if (queue.refuses > 0) return queue.refuses-- === 0;
      const isRepeat = clock.now < (known.get(message.id) ?? 0) + 300_000;
      if (isRepeat) return true;
      known.set(message.id, clock.now);
      const isNews = !('eventId' in JSON.parse(message.body));
      if (isNews && queue.loses > 0) return queue.loses-- > 0;
      (isNews ? news : sent).push(message);
      return true;
    },
  };
  return queue;
}

/** The log of events on the table in memory. `dieAt` kills a writer instead of its n-th step. */
export function eventsInMemory(kept = DAY) {
  const clock = { now: START };
  const { dynamoDb, table } = memoryEngine(() => clock.now);
  const items = eventItems(dynamoDb, TABLE);
  const queue = fakeQueue(clock);
  const places = new Map<string | undefined, string>();
  /** The same for the same event. */
  const placeOf = ({ event }: LogEntry): string => {
    const place = places.get(event?.eventId) ?? String(places.size).padStart(40, '0');
    places.set(event?.eventId, place);
    return place;
  };
  const writer = (
    dieAt = Number.POSITIVE_INFINITY,
    between: () => Promise<void> = async () => {},
    pause: (longest: number) => Promise<void> = async () => {
      clock.now += 50;
    },
  ) => {
    let step = 0;
    const counted = async <T>(run: () => Promise<T>): Promise<T> => {
      if (++step >= dieAt) throw new Died();
      await between();
      return run();
    };
    const watched = Object.fromEntries(
      Object.entries(items).map(([name, method]) => [
        name,
        (...given: unknown[]) => counted(() => (method as (...args: unknown[]) => Promise<unknown>)(...given)),
      ]),
    ) as unknown as EventItems;
    const send = (messages: readonly FifoMessage[]) => counted(async () => messages.map(queue.accept));
    const context = { items: watched, send, sendNews: send, now: () => clock.now, kept, pause };
    const log = eventLog(context);
    return {
      ...log,
      /** As the endpoint does it with starts, and the stream and then the queue with events. */
      async append(owner: string, ...entries: readonly LogEntry[]) {
        const [first] = entries;
        try {
          if (first?.start !== undefined) return await log.append(owner, ...entries);
          await eventPublisher(context)(
            owner,
            entries.map((entry) => ({ ...entry, place: placeOf(entry) })),
          );
        } finally {
          await queue.handleNews(fanOut(context));
        }
      },
    };
  };
  async function subscribe(
    id: string,
    more: Partial<NewSubscription> = {},
    log = writer(),
    begun: { since?: number; event?: EventFacts } = {},
  ) {
    const { last } = await log.begin(OWNER);
    const subscription: NewSubscription = {
      ...{ id, name: 'task.finished', arguments: {}, scopes: [], url: 'https://a.example/hook' },
      ...{ secrets: ['whsec_1'], endpoint: '', createdAt: clock.now, refreshBefore: clock.now + DAY, expiresAt: 1 },
      ...{ deliveredTo: positionText(last), lastMatched: more.deliveredTo ?? positionText(last) },
      ...{ truncated: false, ...more },
    };
    const isNew = await items.createSubscription(OWNER, subscription, clock.now);
    const { createdAt } = (!isNew && (await items.subscription(OWNER, id))) || subscription;
    const { since = 0, event } = begun;
    const start = { id, createdAt, after: Number(subscription.deliveredTo), since };
    await log.append(OWNER, { at: clock.now, start, ...(event && { event }) });
    return subscription;
  }
  const send = async (messages: readonly FifoMessage[]) => messages.map(queue.accept);
  const context = { items, send, sendNews: send, now: () => clock.now, kept, pause: async () => {} };
  const store = eventsStore(context);
  const posted: DeliveryMessage[] = [];
  let done = 0;
  /** Delivers all messages, of which each sends the next. Returns the events that a subscription has got, in their order. */
  async function got(id: string): Promise<readonly string[]> {
    for (; done < queue.sent.length; done++) {
      const message = JSON.parse(queue.sent[done]?.body ?? '') as DeliveryMessage;
      const post = async () => {
        posted.push(message);
        return { status: 204, body: '' };
      };
      const its = { store, post, hold: undefined, now: () => clock.now, measure: () => {} };
      expect(await deliver(message, clock.now, its)).toBe('done');
    }
    return posted.filter(({ subscriptionId }) => subscriptionId === id).map(({ eventId }) => eventId);
  }
  return { clock, items, queue, context, table, store, writer, subscribe, got, posted, most: limits.mcpEvents };
}
