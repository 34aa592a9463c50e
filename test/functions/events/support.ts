import { eventLog } from '../../../functions/events/log.ts';
import type { DeliveryMessage } from '../../../functions/events/ports.ts';
import { eventsStore } from '../../../functions/events/store.ts';
import type { FifoMessage } from '../../../functions/tasks/aws/sqs.ts';
import { limits } from '../../../functions/tasks/limits.ts';
import {
  type EventFacts,
  type EventItems,
  eventItems,
  positionText,
  type StoredSubscription,
} from '../../../functions/tasks/table/event-items.ts';
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

/** A FIFO queue that takes each id once. */
function fakeQueue() {
  const sent: FifoMessage[] = [];
  const queue = {
    sent,
    /** How many messages it refuses from now on. */
    refuses: 0,
    accept(message: FifoMessage) {
      if (queue.refuses > 0) return queue.refuses-- === 0;
      if (!sent.some(({ id }) => id === message.id)) sent.push(message);
      return true;
    },
    /** The events of a subscription, in the order of their messages. */
    eventsOf: (id: string) =>
      sent.filter(({ group }) => group === id).map(({ body }) => (JSON.parse(body) as DeliveryMessage).eventId),
  };
  return queue;
}

/** The log of events on the table in memory. `dieAt` kills a writer instead of its n-th step. */
export function eventsInMemory(kept = DAY) {
  const clock = { now: START };
  const { dynamoDb, table } = memoryEngine(() => clock.now);
  const items = eventItems(dynamoDb, TABLE);
  const queue = fakeQueue();
  const writer = (dieAt = Number.POSITIVE_INFINITY, between: () => Promise<void> = async () => {}) => {
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
    return eventLog({ items: watched, send, now: () => clock.now, kept });
  };
  async function subscribe(id: string, more: Partial<StoredSubscription> = {}, log = writer()) {
    const { last } = await log.begin(OWNER);
    const subscription: StoredSubscription = {
      ...{ id, name: 'task.finished', arguments: {}, scopes: [], url: 'https://a.example/hook' },
      ...{ secrets: ['whsec_1'], createdAt: clock.now, refreshBefore: clock.now + DAY, expiresAt: 1 },
      ...{ deliveredTo: positionText(last), ...more },
    };
    await items.createSubscription(OWNER, subscription, clock.now);
    const start = { id, createdAt: subscription.createdAt, after: Number(subscription.deliveredTo), since: 0 };
    await log.append(OWNER, { at: clock.now, start });
    return subscription;
  }
  const store = eventsStore(items, () => clock.now);
  return { clock, items, queue, table, store, writer, subscribe, most: limits.mcpEvents };
}
