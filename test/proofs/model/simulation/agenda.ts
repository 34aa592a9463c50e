import { type Draw, drawFrom, tame } from './draw.ts';

/** Something that may happen next. */
export interface Pending {
  readonly label: string;
  /** It happens; where it could happen in more than one way, the draw says how. */
  readonly act: (draw: Draw) => void;
  /** When it can wait no longer, in ms since the epoch: then it expires instead. */
  readonly by?: number;
  readonly expire?: (draw: Draw) => void;
}

/**
 * What happens in a run, and in which order: all that is pending waits here until it is chosen, and time passes only
 * when that is chosen. Between two choices everything runs until it waits again, so that a run is a function of its
 * choices.
 */
export interface Agenda {
  readonly began: number;
  now(): number;
  add(pending: Pending): void;
  /** Calls back when that time has come; what it returns takes that back. */
  at(time: number, callback: () => void): () => void;
  /** One choice. */
  step(number: number): Promise<void>;
  /** Goes on tamely until nothing is pending and it is `until`, in ms since the epoch. */
  runTo(until: number): Promise<void>;
}

interface Timer {
  readonly time: number;
  readonly callback: () => void;
}

const SECOND = 1_000;
/** How much time may pass at once although something could happen: mostly little, or every call would be too slow. */
const LEAPS = [1, 1, 1, 1, 2, 2, 5, 5, 16, 40].map((seconds) => seconds * SECOND);
/** One choice in ten lets time pass. */
const ONE_IN = 10;
/** Far more than any run has. */
const MOST = 20_000;

export function createAgenda(start: number, trace: (line: string) => void): Agenda {
  const pending: Pending[] = [];
  const timers: Timer[] = [];
  let now = start;
  let happened = 0;

  /** The earliest that comes by itself, until `until`. */
  const next = (until: number): Timer | Pending | undefined => {
    let first: Timer | Pending | undefined;
    let time = until;
    for (const timer of timers) {
      if (timer.time < time || (timer.time === time && first === undefined)) [first, time] = [timer, timer.time];
    }
    for (const one of pending) {
      const { by = Number.POSITIVE_INFINITY } = one;
      if (by < time || (by === time && first === undefined)) [first, time] = [one, by];
    }
    return first;
  };
  const come = (one: Timer | Pending, draw: Draw) => {
    if ('callback' in one) {
      timers.splice(timers.indexOf(one), 1);
      now = Math.max(now, one.time);
      one.callback();
    } else {
      pending.splice(pending.indexOf(one), 1);
      now = Math.max(now, one.by ?? now);
      trace(`${one.label}: too late`);
      one.expire?.(draw);
    }
  };
  const act = (index: number, draw: Draw) => {
    const [chosen] = pending.splice(index, 1);
    chosen?.act(draw);
  };
  const pass = async (until: number, draw: Draw) => {
    for (let one = next(until); one !== undefined; one = next(until)) {
      come(one, draw);
      await rest();
    }
    now = until;
  };
  const untilNext = () => {
    const one = next(Number.POSITIVE_INFINITY);
    if (one === undefined) return now + SECOND;
    return Math.max(now, 'callback' in one ? one.time : (one.by ?? now));
  };

  return {
    began: start,
    now: () => now,
    add: (one) => void pending.push(one),
    at(time, callback) {
      const timer = { time, callback };
      timers.push(timer);
      return () => {
        const index = timers.indexOf(timer);
        if (index >= 0) timers.splice(index, 1);
      };
    },
    async step(number) {
      const draw = drawFrom(number);
      if (pending.length > 0 && draw(ONE_IN) < ONE_IN - 1) {
        act(draw(pending.length), draw);
        await rest();
      } else {
        await pass(pending.length === 0 ? untilNext() : now + (LEAPS[draw(LEAPS.length)] ?? 0), draw);
      }
    },
    async runTo(until) {
      for (;;) {
        if (happened++ > MOST) throw new Error(`It never ends: ${pending.map(({ label }) => label).join(', ')}`);
        if (pending.length > 0) {
          act(0, tame);
          await rest();
        } else if (now < until) {
          await pass(Math.min(until, untilNext()), tame);
        } else return;
      }
    },
  };
}

/** Everything that can go on without a choice has gone on: there is nothing but microtasks in between. */
const rest = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
