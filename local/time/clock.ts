import { isNamed } from '../names.ts';

/**
 * Milliseconds since the epoch, as the cloud and its functions see them. Waits and timeouts run on, whatever it says, but
 * for one that begins in the moment in which it is moved.
 */
export interface Clock {
  now(): number;
  /** Moves it, back by a negative number. */
  advance(ms: number): void;
  /** Stops it where it is. */
  hold(): void;
  /** Lets it go on from there. */
  resume(): void;
  /** Lets the clock of one function be so far ahead of all others; 0 ends it. @param name its logical id */
  skew(name: string, ms: number): void;
}

/** Where the workers of a function read their clock: [how far it was moved, where it is held or 0], [its own skew]. */
export interface SharedClock {
  readonly common: SharedArrayBuffer;
  readonly own: SharedArrayBuffer;
}

export interface CloudClock extends Clock {
  /** Undefined for a clock that cannot be moved: then a function has its own. */
  sharedWith(logicalId: string): SharedClock | undefined;
}

const WORD = BigInt64Array.BYTES_PER_ELEMENT;

/** A clock that goes as `now` does, for ever. */
export function fixedClock(now: () => number): CloudClock {
  const refuse = (): never => {
    throw new Error('this clock cannot be moved: start the cloud with movableClock');
  };
  return { now, advance: refuse, hold: refuse, resume: refuse, skew: refuse, sharedWith: () => undefined };
}

export function movableClock(functions: readonly string[]): CloudClock {
  const common = new SharedArrayBuffer(2 * WORD);
  const words = new BigInt64Array(common);
  const skews = new Map(functions.map((logicalId) => [logicalId, new SharedArrayBuffer(WORD)]));

  const now = () => readClock(words, Date.now());
  const set = (moved: number, held: number) => {
    Atomics.store(words, 0, BigInt(moved));
    Atomics.store(words, 1, BigInt(held));
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
      const found = [...skews].filter(([logicalId]) => isNamed(logicalId, name));
      if (found.length === 0) throw new Error(`there is no function ${name}`);
      for (const [, own] of found) Atomics.store(new BigInt64Array(own), 0, BigInt(Math.round(ms)));
    },
    sharedWith(logicalId) {
      const own = skews.get(logicalId);
      return own && { common, own };
    },
  };
}

/** The time by a shared clock. @param words of its common part @param real the time by the clock of the machine */
export function readClock(words: BigInt64Array, real: number): number {
  const held = Number(Atomics.load(words, 1));
  return held === 0 ? real + Number(Atomics.load(words, 0)) : held;
}
