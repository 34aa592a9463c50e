import { TooManyPolls } from '../../tasks/errors.ts';
import { limits } from '../../tasks/limits.ts';
import type { TaskKey } from '../../tasks/record.ts';

/**
 * How often tasks are asked for, as far as one container sees: enough to stop a client that asks in a loop, and it costs
 * nothing (E-29). A client that keeps to the poll interval it is told never comes near.
 */
export interface PollLimit {
  /** Counts a poll, before anything is read for it. Throws TooManyPolls. */
  count(key: TaskKey): void;
  /** The poll interval that its asker was told, in ms. */
  setInterval(key: TaskKey, interval: number): void;
}

interface Counter {
  left: number;
  /** When `left` was right. */
  at: number;
  interval: number;
}

export function pollLimit(now: () => number): PollLimit {
  const { burst, perInterval, tasks } = limits.polls;
  const counters = new Map<string, Counter>();

  function counterOf({ owner, taskId }: TaskKey): Counter {
    const name = `${owner} ${taskId}`;
    const counter = counters.get(name) ?? { left: burst, at: now(), interval: limits.pollInterval.min };
    // At the end of the map: the first is the one that nobody has asked for the longest.
    counters.delete(name);
    counters.set(name, counter);
    for (const [oldest] of counters) {
      if (counters.size <= tasks) break;
      counters.delete(oldest);
    }
    return counter;
  }

  return {
    count(key) {
      const counter = counterOf(key);
      // None, while a clock that was set back catches up.
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
