/** A clock that a schedule moves from one timer to the next. A schedule is a function of its seed. */
export interface Time {
  now(): number;
  /** Of timers of the same time, the earlier set comes first. */
  at(time: number, callback: () => void): void;
  sleep(ms: number): Promise<void>;
  /** Passes until nothing is left, or it is `until`, in ms since the epoch. */
  runTo(until: number): Promise<void>;
}

export function createTime(start: number): Time {
  const timers: { readonly time: number; readonly callback: () => void }[] = [];
  let now = start;
  const at = (time: number, callback: () => void) => {
    let index = timers.length;
    while (index > 0 && (timers[index - 1]?.time ?? 0) > time) index--;
    timers.splice(index, 0, { time, callback });
  };
  return {
    now: () => now,
    at,
    sleep: (ms) => new Promise((resolve) => at(now + ms, resolve)),
    async runTo(until) {
      for (;;) {
        const [first] = timers;
        if (first === undefined || first.time > until) break;
        timers.shift();
        now = Math.max(now, first.time);
        first.callback();
        // All that can go on without the clock goes on: there are only microtasks in between.
        await new Promise((resolve) => setImmediate(resolve));
      }
      now = until;
    },
  };
}
