import { startTimeout } from '../time/timeout.ts';

export type Timers = ReturnType<typeof createTimers>;

/** Timers that divide every duration by `scale`. Each timer reads `now` once. */
export function createTimers(scale: number, now: () => number) {
  if (!(scale > 0)) throw new RangeError(`timeScale must be above 0, not ${scale}`);
  return {
    /** The time `milliseconds` of workflow time after `from`, in epoch milliseconds. */
    due: (from: number, milliseconds: number) => from + milliseconds / scale,
    /** Calls back at a time: at once if it is past, never for Infinity. Returns a function that cancels it. */
    at: (due: number, callback: () => void): (() => void) =>
      due === Number.POSITIVE_INFINITY ? () => {} : startTimeout(due - now(), callback, true),
  };
}
