import { matchesLogicalId } from '../logical-id.ts';

/**
 * The time that the cloud and its functions see, in milliseconds since the epoch. A move does not affect waits and
 * timeouts, except one that starts at the same moment, and messages of FIFO queues that become visible.
 */
export interface Clock {
  now(): number;
  /** Moves it; a negative number moves it back. */
  advance(ms: number): void;
  /** Stops it. */
  hold(): void;
  /** Lets it run again from the time at which it stopped. */
  resume(): void;
  /** Sets the clock of one function `ms` ahead of all others; 0 ends the skew. @param name its logical id */
  skew(name: string, ms: number): void;
}

/** Memory from which workers of a function read their clock: [offset, time at which it is held or 0], [own skew]. */
export interface SharedClock {
  readonly common: SharedArrayBuffer;
  readonly own: SharedArrayBuffer;
}

export interface CloudClock extends Clock {
  /** Undefined for a clock that cannot be moved: then functions use the machine's. */
  sharedWith(logicalId: string): SharedClock | undefined;
  /** Calls back after each move. */
  onMove(moved: () => void): void;
}

const WORD = BigInt64Array.BYTES_PER_ELEMENT;

/** The clock that the options of a cloud ask for. @param functions logical ids */
export function createClock(
  { movableClock: movable = false, now }: { readonly movableClock?: boolean; readonly now?: () => number },
  functions: readonly string[],
): CloudClock {
  if (!movable) return fixedClock(now ?? Date.now);
  if (now) throw new Error('a cloud takes either movableClock or now, not both');
  return movableClock(functions);
}

/** A clock that always shows `now` and cannot be moved. */
export function fixedClock(now: () => number): CloudClock {
  const refuse = (): never => {
    throw new Error('this clock cannot be moved: start the cloud with movableClock');
  };
  return {
    now,
    advance: refuse,
    hold: refuse,
    resume: refuse,
    skew: refuse,
    sharedWith: () => undefined,
    onMove: () => {},
  };
}

export function movableClock(functions: readonly string[]): CloudClock {
  const common = new SharedArrayBuffer(2 * WORD);
  const words = new BigInt64Array(common);
  const skews = new Map(functions.map((logicalId) => [logicalId, new SharedArrayBuffer(WORD)]));

  const listeners: (() => void)[] = [];

  const now = () => readClock(words, Date.now());
  const set = (moved: number, held: number) => {
    Atomics.store(words, 0, BigInt(moved));
    Atomics.store(words, 1, BigInt(held));
    for (const listener of listeners) listener();
  };
  return {
    now,
    advance(ms) {
      const [moved, held] = [Number(words[0]), Number(words[1])];
      set(moved + Math.round(ms), held === 0 ? 0 : held + Math.round(ms));
    },
    hold: () => set(Number(words[0]), now()),
    resume() {
      if (words[1] !== 0n) set(now() - Date.now(), 0);
    },
    skew(name, ms) {
      const found = [...skews].filter(([logicalId]) => matchesLogicalId(logicalId, name));
      if (found.length === 0) throw new Error(`there is no function ${name}`);
      for (const [, own] of found) Atomics.store(new BigInt64Array(own), 0, BigInt(Math.round(ms)));
    },
    sharedWith(logicalId) {
      const own = skews.get(logicalId);
      return own && { common, own };
    },
    onMove: (moved) => void listeners.push(moved),
  };
}

/** The time of a shared clock. @param words its common part @param real the time of the machine */
export function readClock(words: BigInt64Array, real: number): number {
  const held = Number(Atomics.load(words, 1));
  return held === 0 ? real + Number(Atomics.load(words, 0)) : held;
}
