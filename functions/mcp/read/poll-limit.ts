import { setBounded } from '../../tasks/bounded-map.ts';
import { TooManyLists, TooManyPolls } from '../../tasks/errors.ts';
import { listPartition, type Principal } from '../../tasks/ids.ts';
import { limits } from '../../tasks/limits.ts';
import type { TaskKey } from '../../tasks/record.ts';

/** Stops a client that polls or lists in a loop, by container (E-29). One that respects the poll interval never meets it. */
export interface PollLimit {
  /**
   * Counts a poll of a task that `setInterval` knows. Others are not counted: a client could make up more ids than are
   * remembered. Call it before any read. Throws TooManyPolls.
   */
  count(key: TaskKey): void;
  /** Sets the poll interval that the client was sent, in ms. The first call for a task counts its poll. */
  setInterval(key: TaskKey, interval: number): void;
  /** Counts a request that is not a poll, but may show a result. Throws TooManyPolls. */
  countShown(key: TaskKey): void;
  /**
   * Counts a request that reads many tasks. Call it before any read. Anonymous callers without a session cannot be
   * distinguished, so they share one count. Throws TooManyLists.
   *
   * @param session whose stream it opens: each session of a caller reads its questions by itself
   */
  countList(principal: Principal, session?: string): void;
}

interface Counter {
  left: number;
  /** When `left` was last updated, in ms since the epoch. */
  at: number;
  interval: number;
}

export function pollLimit(now: () => number): PollLimit {
  const { polls, lists } = limits;
  const tasks = new Map<string, Counter>();
  const owners = new Map<string, Counter>();
  const nameOf = ({ owner, taskId }: TaskKey): string => `${owner} ${taskId}`;

  /** Whether one more request is served. */
  function take(counter: Counter, { burst, perInterval }: { readonly burst: number; readonly perInterval: number }) {
    // Earns nothing while a clock that was set back catches up.
    const earned = (Math.max(0, now() - counter.at) / counter.interval) * perInterval;
    counter.left = Math.min(burst, counter.left + earned);
    counter.at = now();
    if (counter.left < 1) return false;
    counter.left--;
    return true;
  }

  function count(key: TaskKey): void {
    const name = nameOf(key);
    const counter = tasks.get(name);
    if (counter === undefined) return;
    setBounded(tasks, name, counter, polls.tasks);
    if (!take(counter, polls)) throw new TooManyPolls(Math.ceil(counter.interval / 1_000));
  }

  function setInterval(key: TaskKey, interval: number): void {
    const name = nameOf(key);
    const { left, at } = tasks.get(name) ?? { left: polls.burst - 1, at: now() };
    setBounded(tasks, name, { left, at, interval }, polls.tasks);
  }

  return {
    count,
    setInterval,
    countShown(key) {
      count(key);
      setInterval(key, limits.pollInterval.min);
    },
    countList(principal, session = '') {
      const owner = `${listPartition(principal) ?? ''} ${session}`;
      const counter = owners.get(owner) ?? { left: lists.burst, at: now(), interval: 1_000 };
      setBounded(owners, owner, counter, lists.owners);
      if (!take(counter, lists)) throw new TooManyLists(lists.perInterval);
    },
  };
}
