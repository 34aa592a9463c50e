export interface Timers {
  /** Calls back after `milliseconds` of workflow time (Infinity: never); the answer cancels it. */
  after(milliseconds: number, callback: () => void): () => void;
  /** Resolves after `milliseconds` of workflow time, or rejects with the signal's reason if that comes first. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

// setTimeout fires at once above this; a Wait may last a year.
const LONGEST_LAP = 2 ** 31 - 1;

/** Timers whose every duration is divided by `scale`. */
export function createTimers(scale: number): Timers {
  if (!(scale > 0)) throw new RangeError(`timeScale must be above 0, not ${scale}`);

  const after: Timers['after'] = (milliseconds, callback) => {
    let left = Math.max(0, milliseconds / scale);
    let timer: NodeJS.Timeout | undefined;
    const lap = () => {
      const next = Math.min(left, LONGEST_LAP);
      left -= next;
      timer = setTimeout(left > 0 ? lap : callback, next);
    };
    if (left < Number.POSITIVE_INFINITY) lap();
    return () => clearTimeout(timer);
  };

  const sleep: Timers['sleep'] = (milliseconds, signal) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (signal.aborted) {
      reject(signal.reason);
      return promise;
    }
    const cancel = after(milliseconds, () => {
      signal.removeEventListener('abort', stop);
      resolve();
    });
    const stop = () => {
      cancel();
      reject(signal.reason);
    };
    signal.addEventListener('abort', stop, { once: true });
    return promise;
  };

  return { after, sleep };
}
