export interface Timers {
  /** The time `milliseconds` of workflow time after `from`, in epoch milliseconds. */
  due(from: number, milliseconds: number): number;
  /** Calls back at a time: at once if it is past, never for Infinity. Returns a function that cancels it. */
  at(due: number, callback: () => void): () => void;
}

// setTimeout fires at once above this; a Wait may last a year.
const LONGEST_LAP = 2 ** 31 - 1;

/** Timers that divide every duration by `scale`. Each timer reads `now` once. */
export function createTimers(scale: number, now: () => number): Timers {
  if (!(scale > 0)) throw new RangeError(`timeScale must be above 0, not ${scale}`);
  return {
    due: (from, milliseconds) => from + milliseconds / scale,
    at(due, callback) {
      let left = Math.max(0, due - now());
      let timer: NodeJS.Timeout | undefined;
      const lap = () => {
        const next = Math.min(left, LONGEST_LAP);
        left -= next;
        timer = setTimeout(left > 0 ? lap : callback, next);
      };
      if (left < Number.POSITIVE_INFINITY) lap();
      return () => clearTimeout(timer);
    },
  };
}
