import { HOLD, type Outcome, type Received, T0, VISIBILITY } from './run.ts';

export type Kind =
  | 'lost'
  | 'out of order'
  | 'doubled'
  | 'too late'
  | 'after its end'
  | 'after refusal'
  | 'not held'
  | 'too many messages';

export interface Violation {
  readonly kind: Kind;
  readonly what: string;
}

type Add = (kind: Kind, what: string) => void;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** The longest wait between two attempts. */
const LONGEST = 15 * MINUTE;

/** What must not have happened in a schedule. */
export function violationsOf(outcome: Outcome): Violation[] {
  const { plan, receivers, events, deaths, failures, left } = outcome;
  const found: Violation[] = left > 0 ? [{ kind: 'lost', what: `${left} messages were never done` }] : [];
  if (events.length !== plan.events.length) found.push({ kind: 'lost', what: `the log has ${events.length} events` });
  for (const its of Map.groupBy(events, ({ taskId }) => taskId).values()) {
    const order = its.map(({ event }) => event);
    if (order.join() !== order.toSorted().join()) found.push({ kind: 'out of order', what: order.join() });
  }
  for (const [index, received] of receivers.entries()) {
    const add: Add = (kind, what) => void found.push({ kind, what: `receiver ${index}: ${what}` });
    judgeLosses(received, events, add, deaths + failures);
    judgeOrder(received, add);
    judgeMessages(received, add, deaths + failures);
    for (const { event } of events) judgeEvent(received, event, add, deaths + failures);
    judgeTimes(received, outcome, add);
    if (deaths + failures === 0) judgeFirst(received, events, add);
  }
  return found;
}

/** Each death or failure may cost the visibility timeout. */
const delayOf = (faults: number) => LONGEST + (faults + 1) * (VISIBILITY + 10 * SECOND);

function judgeLosses(
  { planned, arrivals, begun }: Received,
  events: Outcome['events'],
  add: Add,
  faults: number,
): void {
  const end = planned.over === undefined ? Number.POSITIVE_INFINITY : T0 + planned.over.at;
  const well = Math.max(T0 + (planned.moods.at(-1)?.from ?? 0), ...begun.map(({ at }) => at));
  const last = begun.at(-1) ?? { at: 0, after: 0 };
  for (const [number, { event, position }] of events.entries()) {
    if (position <= (begun[0]?.after ?? 0)) continue;
    const before = events.slice(0, number + 1).map((one) => one.loggedAt);
    // All events before it had to be delivered first, and each may have been held.
    const by = Math.max(well, ...before) + (number + 1) * HOLD.most + delayOf(faults);
    if (by >= end) continue;
    const isFinal = planned.refuses.has(Number(event.slice(4)));
    // What the last subscription asks for again has to come again.
    const since = position > last.after ? last.at : 0;
    const mine = arrivals.filter((one) => one.event === event && one.at >= since);
    const done = mine.find((one) => one.taken || (isFinal && isWell(one.mood)));
    if (done === undefined) add('lost', `${event} never arrived`);
    else if (done.at > by) add('too late', `${event} arrived ${(done.at - by) / SECOND} s too late`);
  }
}

const isWell = (mood: string) => mood === 'ok' || mood === 'slow';

/** The first arrivals that the receiver took have the order of the log. */
function judgeOrder({ arrivals }: Received, add: Add): void {
  const first = new Map<string, string>();
  for (const { event, position, taken } of arrivals) if (taken && !first.has(event)) first.set(event, position);
  const taken = [...first.values()];
  if (taken.join() !== taken.toSorted().join()) add('out of order', `took ${taken.join()}`);
}

/**
 * However many events wait, one has a message, and the one before it may not be deleted yet. A process that dies after it has sent one
 * may send it again after the five minutes in which SQS knows it.
 */
function judgeMessages({ most: { messages, events } }: Received, add: Add, faults: number): void {
  if (events > 1) add('too many messages', `messages of ${events} events at once`);
  if (messages > 2 + faults) add('too many messages', `${messages} at once`);
}

function judgeEvent({ arrivals, begun }: Received, event: string, add: Add, faults: number): void {
  const mine = arrivals.filter((one) => one.event === event);
  const texts = new Set(mine.map(({ webhookId, body }) => `${webhookId} ${body}`));
  if (texts.size > 1) add('doubled', `${event} came as ${[...texts].join(' and as ')}`);
  // A sender that dies then has not deleted the message, and one who subscribes again asks for it again.
  if (faults > 0 || begun.length > 1) return;
  const refused = mine.findIndex(({ heard }) => heard);
  if (refused !== -1 && mine.length > refused + 1) add('after refusal', `${event} came again after it was refused`);
}

function judgeTimes({ planned, arrivals }: Received, { plan, events }: Outcome, add: Add): void {
  const { over } = planned;
  for (const { at, event } of arrivals) {
    // The subscription is read some calls before. Who unsubscribes may have to try again.
    if (over?.by === 'time' && at >= T0 + over.at + SECOND) add('after its end', `${event} came at ${at - T0}`);
    const { happenedAt = 0 } = events.find((one) => one.event === event) ?? {};
    const isBusy = plan.requests.some((one) => T0 + one <= at - SECOND && at < T0 + one + HOLD.quiet - SECOND);
    if (planned.hold && isBusy && at < happenedAt + HOLD.most - SECOND) add('not held', `${event} came at ${at - T0}`);
  }
}

/** Where nothing goes wrong, and nothing is held, a first attempt comes within two seconds. */
function judgeFirst({ planned, arrivals, begun }: Received, events: Outcome['events'], add: Add): void {
  if (planned.hold || planned.moods.length > 0 || planned.over !== undefined || begun.length > 1) return;
  for (const { event, loggedAt: at } of events) {
    const isAlone = !events.some((one) => one.event !== event && Math.abs(one.loggedAt - at) < 5 * SECOND);
    const first = arrivals.find((one) => one.event === event);
    if (isAlone && first !== undefined && first.at > at + 2 * SECOND) add('too late', `first attempt of ${event}`);
  }
}
