import { createRandom } from '../../../local/testing.ts';

export type Random = ReturnType<typeof createRandom>;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** What a receiver does with requests. `late`: it takes the event, but answers when the sender has hung up. */
export const MOODS = ['ok', 'slow', 'late', 'silent', 'away', 'busy', 'broken', 'wrong', 'redirects'] as const;
export type Mood = (typeof MOODS)[number];

export interface PlannedReceiver {
  /** From so many ms on. After the last one it is well for ever, or slow. */
  readonly moods: readonly { readonly from: number; readonly mood: Mood }[];
  /** Events, by their numbers, that it refuses for good, with this status. */
  readonly refuses: ReadonlyMap<number, 410 | 413>;
  /** Its subscription ends at this time, by itself or by its subscriber. Undefined: never. */
  readonly over?: { readonly at: number; readonly by: 'time' | 'unsubscribe' };
  readonly hold: boolean;
  /** When it ends its subscription and begins it again, from the last event that it has: as a client does that starts. */
  readonly begins: readonly number[];
  /** So many events that it took are not stored then: it wants them again. */
  readonly forgets: number;
}

/** All that a schedule decides before it begins. Times are in ms from its beginning. */
export interface Plan {
  readonly seed: number;
  readonly receivers: readonly PlannedReceiver[];
  readonly events: readonly number[];
  /** So many tell of them at once. */
  readonly lanes: number;
  /** When the owner calls the server. */
  readonly requests: readonly number[];
  /** The share of steps at which a sender dies, and the share of calls that fail. */
  readonly deaths: number;
  readonly failures: number;
  /** The share of new events that DynamoDB refuses in the first partition. */
  readonly busy: number;
}

export const pick = <T>(random: Random, of: readonly T[]): T => of[Math.floor(random.number() * of.length)] as T;
const upTo = (random: Random, most: number) => Math.floor(random.number() * most);

export function planOf(seed: number): Plan {
  const random = createRandom(`deliveries ${seed}`);
  const events: number[] = [];
  for (let at = 0, left = 2 + upTo(random, 5); left > 0; left--) {
    at += upTo(random, pick(random, [100, 2 * SECOND, MINUTE, 20 * MINUTE, 3 * HOUR]));
    events.push(at);
  }
  const requests = Array.from({ length: upTo(random, 12) }, () => upTo(random, pick(random, [3 * MINUTE, 2 * HOUR])));
  return {
    ...{ seed, events, requests: requests.sort((a, b) => a - b), lanes: 1 + upTo(random, 2) },
    receivers: Array.from({ length: 1 + upTo(random, 3) }, () => receiver(random, events)),
    deaths: pick(random, [0, 0, 0.01, 0.03, 0.1]),
    failures: pick(random, [0, 0, 0.02, 0.1]),
    busy: pick(random, [0, 0.5]),
  };
}

function receiver(random: Random, events: readonly number[]): PlannedReceiver {
  const moods: { from: number; mood: Mood }[] = [];
  for (let from = 0, left = upTo(random, 5); left > 0; left--) {
    moods.push({ from, mood: pick(random, MOODS) });
    from += 500 + upTo(random, pick(random, [5 * SECOND, 5 * MINUTE, HOUR, 8 * HOUR]));
    if (left === 1) moods.push({ from, mood: pick(random, ['ok', 'slow']) });
  }
  const refused = random.number() < 0.3 ? [upTo(random, events.length)] : [];
  const ends = random.number() < 0.25;
  // At any time, or while an event is on its way.
  const beginAt = () =>
    random.number() < 0.5 ? upTo(random, 5 * HOUR) : pick(random, events) + upTo(random, 15 * SECOND);
  const begins = random.number() < 0.4 ? Array.from({ length: 1 + upTo(random, 3) }, beginAt) : [];
  return {
    moods,
    refuses: new Map(refused.map((number) => [number, pick(random, [410, 413] as const)])),
    ...(ends && { over: { at: upTo(random, 10 * HOUR), by: pick(random, ['time', 'unsubscribe'] as const) } }),
    hold: random.number() < 0.5,
    begins: ends ? [] : begins.sort((a, b) => a - b),
    forgets: upTo(random, 4),
  };
}
