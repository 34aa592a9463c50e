/** Numbers that look random and are the same for the same seed. */
export interface Random {
  /** A whole number from 0 up to `below`, which is not reached. */
  int(below: number): number;
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
}

/** The generator of one case: cases of one seed are independent, so that each can be replayed alone. */
export function randomOf(seed: number, index: number): Random {
  let state = (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35)) >>> 0;
  // mulberry32
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const int = (below: number) => Math.floor(next() * below);
  return {
    int,
    chance: (probability) => next() < probability,
    pick: (from) => from[int(from.length)] as (typeof from)[number],
  };
}

/** The seed of `npm run proof -- fuzz` is a new one each time, unless one is given. */
export function seedOf(given: string | undefined): number {
  const seed = Number(given ?? Number.NaN);
  return Number.isSafeInteger(seed) ? seed : Math.floor(Math.random() * 1_000_000_000);
}

/** The seed of the tests: the same in each run, so that a change fails for what it changed; FUZZ_SEED sets another. */
export const testSeed: number = seedOf(process.env.FUZZ_SEED ?? '20260728');
