import type { SQSEvent } from 'aws-lambda';
import { handleMessages, type QueueContext } from '../../../functions/event-delivery/handle.ts';
import { fanOut } from '../../../functions/events/fan-out.ts';
import { eventLog } from '../../../functions/events/log.ts';
import type { DeliveryMessage, NewEvents } from '../../../functions/events/ports.ts';
import type { Answer } from '../../../functions/events/post/post.ts';
import { eventPublisher } from '../../../functions/events/publish.ts';
import { eventsStore } from '../../../functions/events/store.ts';
import { type EventItems, eventItems } from '../../../functions/tasks/table/events/items.ts';
import { createRandom } from '../../../local/testing.ts';
import { memoryEngine, TABLE } from '../../support/engine/memory.ts';
import type { Bug } from './bugs.ts';
import { createCalls } from './calls.ts';
import type { Mood, Plan, PlannedReceiver } from './plan.ts';
import { createQueue, type Message } from './queue.ts';
import { createSubscribers } from './subscribers.ts';
import { createTime } from './time.ts';

export const T0 = 1_700_000_000_000;
export const OWNER = 'owner#ann';
const SECOND = 1_000;
const DAY = 86_400_000;
/** How long a received message is hidden: six times the timeout of the function. */
export const VISIBILITY = 180 * SECOND;
export const HOLD = { quiet: 90 * SECOND, most: 300 * SECOND };

/** One request that reached a receiver, or did not find it. */
export interface Arrival {
  readonly at: number;
  readonly event: string;
  readonly position: string;
  readonly webhookId: string;
  readonly body: string;
  readonly mood: Mood;
  /** Whether the receiver has the event from now on. */
  readonly taken: boolean;
  /** The receiver refused it for good, and the sender got this answer. */
  heard: boolean;
}

export interface Received {
  readonly planned: PlannedReceiver;
  readonly arrivals: Arrival[];
  /** The most messages that the queue had at once for what it asked for once, and the most events that they were still to bring. */
  readonly most: { messages: number; events: number };
  /** When it subscribed, and the position from which on it wants events. The last one counts. */
  readonly begun: { at: number; after: number }[];
}

export interface LoggedEvent {
  readonly event: string;
  readonly taskId: string;
  readonly position: number;
  readonly happenedAt: number;
  /** When it came into the log: its message, if it needs one, is in the queue then. */
  readonly loggedAt: number;
}

export interface Outcome {
  readonly plan: Plan;
  readonly receivers: readonly Received[];
  /** The log at the end. */
  readonly events: readonly LoggedEvent[];
  readonly deaths: number;
  readonly failures: number;
  /** Messages that were never done. */
  readonly left: number;
}

/** Runs a schedule until all its messages are done, with the real log, store and handler of the queue. */
export async function run(plan: Plan, bug: Bug = {}): Promise<Outcome> {
  const time = createTime(T0);
  const random = createRandom(`run ${plan.seed}`);
  const refusals = createRandom(`refusals ${plan.seed}`);
  const calls = createCalls(plan, time, random);
  const engine = memoryEngine(time.now);
  const table = eventItems(engine.dynamoDb, TABLE);
  const loggedAt = new Map<number, number>();
  const real: EventItems = {
    ...table,
    async putEntry(owner, position, entry, expiresAt) {
      if (!loggedAt.has(position)) loggedAt.set(position, time.now());
      await table.putEntry(owner, position, entry, expiresAt);
    },
    async putNew(owner, event, expiresAt, into) {
      if (into === 'first' && refusals.number() < plan.busy) throw new Error('throttled');
      await table.putNew(owner, event, expiresAt, into);
    },
  };
  const items = calls.all(bug.items?.(real, () => time.sleep(1 + Math.floor(random.number() * 500))) ?? real);
  const receivers: Received[] = plan.receivers.map((planned) => ({
    planned,
    arrivals: [],
    most: { messages: 0, events: 0 },
    begun: [],
  }));
  const receiverOf = (subscriptionId: string) => receivers[Number(subscriptionId.slice(4))] as Received;

  const queue = createQueue(time, VISIBILITY, () => time.at(time.now() + Math.floor(random.number() * 300), poll));
  const pause = (longest: number) => time.sleep(random.number() * longest);
  const logOf = (its: EventItems, send: typeof sendNow) =>
    eventLog({ items: its, now: time.now, kept: 30 * DAY, send, pause });
  const sendNow: Parameters<typeof eventLog>[0]['send'] = async (messages) => {
    for (const { group, id, body } of messages) {
      const message = JSON.parse(body) as DeliveryMessage | NewEvents;
      if (!('eventId' in message)) {
        queue.send(group, id, body);
        continue;
      }
      const { subscriptionId, eventId, createdAt } = message;
      queue.send(bug.group?.(subscriptionId, eventId) ?? group, bug.repeat?.(subscriptionId, eventId) ?? id, body);
      await count(subscriptionId, createdAt, group);
    }
    return messages.map(() => true);
  };
  async function count(id: string, createdAt: number, group: string): Promise<void> {
    const subscription = await real.subscription(OWNER, id);
    const waiting = queue.bodiesOf(group).map((body) => JSON.parse(body) as DeliveryMessage);
    // The messages of an earlier subscription are done at once.
    const to = subscription?.createdAt === createdAt ? subscription.deliveredTo : '~';
    const left = new Set(waiting.map(({ position }) => position).filter((position) => position > to));
    const { most } = receiverOf(id);
    most.messages = Math.max(most.messages, waiting.length);
    most.events = Math.max(most.events, left.size);
  }
  const send: typeof sendNow = (messages) => calls.call(() => sendNow(messages));
  const log = logOf(items, send);
  const publish = eventPublisher({ items, sendNews: send, now: time.now });

  /** Two events of a lane that follow each other are of one task. */
  const taskOf = (number: number) => `t${number % plan.lanes}/${Math.floor(number / plan.lanes / 2)}`;
  /** Each lane is a shard of the stream: it tells of its ends in their order, each until that worked, and those that wait together. */
  async function tell(lane: number): Promise<void> {
    const its = plan.events.flatMap((after, number) =>
      number % plan.lanes === lane ? [{ number, at: T0 + after }] : [],
    );
    for (let from = 0; from < its.length; ) {
      await time.sleep(Math.max(0, (its[from]?.at ?? 0) - time.now()));
      const due = its.slice(from).filter(({ at }) => at <= time.now());
      const events = due.map(({ number, at }) => {
        const facts = {
          eventId: `evt_${String(number).padStart(26, '0')}`,
          name: 'task.finished',
          taskId: taskOf(number),
        };
        const place = String(number).padStart(40, '0');
        return { place, at, event: { ...facts, at, tool: 'render', createdAt: T0, status: 'completed' } };
      });
      await calls.untilDone(() => publish(OWNER, events), [SECOND, 60 * SECOND, 400 * SECOND]);
      from += due.length;
    }
  }

  const store = eventsStore({ items, send, now: time.now });
  const post: QueueContext['post'] = ({ subscriptionId, webhookId, body }) => {
    const { planned, arrivals } = receiverOf(subscriptionId);
    const { eventId: event, cursor: position } = JSON.parse(body) as { eventId: string; cursor: string };
    return calls
      .call(async () => {
        const mood = moodAt(planned, time.now());
        const refusal = planned.refuses.get(Number(event.slice(4)));
        const final = mood === 'ok' || mood === 'slow' ? refusal : undefined;
        const taken = refusal === undefined && ['ok', 'slow', 'late'].includes(mood);
        const arrival = { at: time.now(), event, position, webhookId, body, mood, taken, heard: false };
        arrivals.push(arrival);
        await time.sleep(waitOf(mood));
        return { arrival, final, answer: final === undefined ? ANSWERS[mood] : { status: final, body: '' } };
      }, false)
      .then(({ arrival, final, answer }) => {
        arrival.heard = final !== undefined;
        return answer;
      });
  };
  const waitOf = (mood: Mood) => {
    if (mood === 'late' || mood === 'silent') return 10 * SECOND;
    return mood === 'slow' ? 1_000 + Math.floor(random.number() * 8_500) : Math.floor(random.number() * 200);
  };

  const outside: QueueContext = {
    ...{ post, hold: HOLD, now: time.now, measure: () => {}, measureFailure: () => {} },
    fanOut: fanOut({ items, send, sendNews: send, now: time.now, kept: 30 * DAY, pause }),
    store: {
      ...store,
      async subscription(owner, id) {
        const found = await store.subscription(owner, id);
        return found && { ...found, hold: receiverOf(id).planned.hold };
      },
      lastRequest: () =>
        calls
          .call(() => plan.requests.findLast((at) => T0 + at <= time.now()))
          .then((at) => (at === undefined ? undefined : T0 + at)),
    },
    hide: (_queue, receipt, seconds) => calls.call(() => queue.hide(receipt, seconds)),
  };
  const context = bug.context?.(outside) ?? outside;
  const handle = bug.handle ?? handleMessages;
  function poll(): void {
    for (let one = queue.receive(); one !== undefined; one = queue.receive()) void invoke(one);
  }
  async function invoke(message: Message): Promise<void> {
    const { batchItemFailures } = await handle(eventOf(message), context);
    if (batchItemFailures.length === 0) await calls.call(() => queue.delete(message.receipt)).catch(() => {});
  }

  const subscribers = createSubscribers({ time, calls, items, log, receivers });
  // They begin one after the other before the schedule does: its clock stands still.
  let before = T0 - 60 * SECOND;
  const pauseBefore = async (longest: number) => {
    before += longest;
  };
  await subscribers.begin(
    eventLog({ items: real, now: () => before, kept: 30 * DAY, send: sendNow, pause: pauseBefore }),
    real,
  );
  for (let lane = 0; lane < plan.lanes; lane++) void tell(lane);
  void subscribers.live();
  await time.runTo(T0 + 16 * DAY);
  const entries = await real.entries(OWNER, 0, 1_000);
  const events = entries.flatMap(({ event, position }) =>
    event === undefined
      ? []
      : [
          {
            event: event.eventId,
            taskId: event.taskId,
            position,
            happenedAt: event.at,
            loggedAt: loggedAt.get(position) ?? 0,
          },
        ],
  );
  return { plan, receivers, events, ...calls.counts, left: queue.size() };
}

const moodAt = ({ moods }: PlannedReceiver, at: number): Mood =>
  moods.findLast(({ from }) => from <= at - T0)?.mood ?? 'ok';

const ANSWERS: Readonly<Record<Mood, Answer>> = {
  ok: { status: 204, body: '' },
  slow: { status: 200, body: '' },
  late: { error: 'timeout' },
  silent: { error: 'timeout' },
  away: { error: 'connection_refused' },
  busy: { status: 503, body: '' },
  broken: { status: 500, body: '' },
  wrong: { status: 400, body: '' },
  redirects: { status: 302, body: '' },
};

function eventOf({ id, body, receipt, receives, sentAt, group }: Message): SQSEvent {
  const attributes = {
    ...{ ApproximateReceiveCount: String(receives), SentTimestamp: String(sentAt), SenderId: '' },
    ...{ ApproximateFirstReceiveTimestamp: String(sentAt), MessageGroupId: group },
  };
  const record = { messageId: id, receiptHandle: receipt, body, attributes, messageAttributes: {}, md5OfBody: '' };
  return { Records: [{ ...record, eventSource: 'aws:sqs', eventSourceARN: '', awsRegion: '' }] };
}
