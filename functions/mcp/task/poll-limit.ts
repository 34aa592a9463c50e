import { setBounded } from '../../tasks/bounded-map.ts';
import { TooManyPolls } from '../../tasks/errors.ts';
import { limits } from '../../tasks/limits.ts';
import type { TaskKey } from '../../tasks/record.ts';

/** Stops a client that polls in a loop, by container (E-29). One that respects the poll interval never meets it. */
export interface PollLimit {
  /** Counts a poll. Call it before any read. Throws TooManyPolls. */
  count(key: TaskKey): void;
  /** Sets the poll interval that the client was sent, in ms. */
  setInterval(key: TaskKey, interval: number): void;
}

interface Counter {
  left: number;
  /** When `left` was last updated, in ms since the epoch. */
  at: number;
  interval: number;
}

export function pollLimit(now: () => number): PollLimit {
  const { burst, perInterval, tasks } = limits.polls;
  const counters = new Map<string, Counter>();

  function counterOf({ owner, taskId }: TaskKey): Counter {
    const name = `${owner} ${taskId}`;
    const counter = counters.get(name) ?? { left: burst, at: now(), interval: limits.pollInterval.min };
    setBounded(counters, name, counter, tasks);
    return counter;
  }

  return {
    count(key) {
      const counter = counterOf(key);
      // Earns nothing while a clock that was set back catches up.
      const earned = (Math.max(0, now() - counter.at) / counter.interval) * perInterval;
      counter.left = Math.min(burst, counter.left + earned);
      counter.at = now();
      if (counter.left < 1) throw new TooManyPolls(Math.ceil(counter.interval / 1_000));
      counter.left--;
    },
    setInterval(key, interval) {
      counterOf(key).interval = interval;
    },
  };
}
