import type { EventLog } from '../../../functions/events/log.ts';
import type { EventItems } from '../../../functions/tasks/table/events/items.ts';
import { positionText } from '../../../functions/tasks/table/events/log.ts';
import type { Calls } from './calls.ts';
import { OWNER, type Received, T0 } from './run.ts';
import type { Time } from './time.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

interface World {
  readonly time: Time;
  readonly calls: Calls;
  readonly items: EventItems;
  readonly log: EventLog;
  readonly receivers: readonly Received[];
}

/** The clients of receivers: they subscribe, end it, and begin again from the last event that they have stored. */
export function createSubscribers({ time, calls, items, log, receivers }: World) {
  async function subscribe(index: number, its: EventItems, into: EventLog, from?: number): Promise<void> {
    const { planned, begun } = receivers[index] as Received;
    const { last } = await into.begin(OWNER);
    const [createdAt, after] = [time.now(), from ?? last];
    const refreshBefore = planned.over?.by === 'time' ? T0 + planned.over.at : T0 + 30 * DAY;
    const added = await its.createSubscription(
      OWNER,
      {
        ...{ id: `sub_${index}`, name: 'task.finished', arguments: {}, scopes: [], createdAt, refreshBefore },
        ...{ url: `https://receiver-${index}.example/`, secrets: ['whsec_1'], endpoint: '', truncated: false },
        ...{ deliveredTo: positionText(after), lastMatched: positionText(after), expiresAt: (T0 + 40 * DAY) / 1_000 },
      },
      createdAt,
    );
    if (!added) throw new Error('There is one');
    begun.push({ at: createdAt, after });
    await into.append(OWNER, { at: createdAt, start: { id: `sub_${index}`, createdAt, after, since: 0 } });
  }

  async function end(index: number): Promise<void> {
    const found = await items.subscription(OWNER, `sub_${index}`);
    if (found !== undefined) await items.endSubscription(OWNER, found);
  }

  async function live(index: number): Promise<void> {
    const { planned, arrivals } = receivers[index] as Received;
    for (const at of planned.begins) {
      if (T0 + at > time.now()) await time.sleep(T0 + at - time.now());
      await calls.untilDone(async () => {
        await end(index);
        const taken = arrivals.flatMap((one) => (one.taken ? [Number(one.position)] : [])).sort((a, b) => a - b);
        const { after = 0 } = (receivers[index] as Received).begun[0] ?? {};
        await subscribe(index, items, log, Math.max(after, ...taken.slice(0, taken.length - planned.forgets)));
      }, [MINUTE, 10 * MINUTE]);
    }
    if (planned.over?.by !== 'unsubscribe') return;
    if (T0 + planned.over.at > time.now()) await time.sleep(T0 + planned.over.at - time.now());
    await calls.untilDone(() => end(index), [MINUTE]);
  }

  return {
    /** The first subscriptions, before anything goes wrong. */
    async begin(into: EventLog, its: EventItems): Promise<void> {
      for (const index of receivers.keys()) await subscribe(index, its, into);
    },
    async live(): Promise<void> {
      await Promise.all(receivers.map((_one, index) => live(index)));
    },
  };
}
