import { setBounded } from '../../tasks/bounded-map.ts';
import { TooManyLists, TooManyPolls } from '../../tasks/errors.ts';
import { listPartition, type Principal } from '../../tasks/ids.ts';
import { limits } from '../../tasks/limits.ts';
import { logUnexpected } from '../../tasks/log.ts';
import type { TaskKey } from '../../tasks/record.ts';
import type { StreamCountStore } from '../../tasks/table/stream-count.ts';
import { isOutage } from '../protocol/aws-outage.ts';

/**
 * Stops a client that polls or lists in a loop (E-29). One that respects the poll interval never meets it. Each container counts polls
 * by itself, and all together count lists: the lists of an owner read one partition.
 */
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
   * Counts a request that reads many tasks. Call it before any read. A container counts by itself anonymous callers without a session,
   * which cannot be distinguished, and all callers in an outage. Throws TooManyLists.
   */
  countList(principal: Principal, server: { readonly store: StreamCountStore }): Promise<void>;
  /** As countList. False where that throws. */
  mayReadMany(principal: Principal, server: { readonly store: StreamCountStore }): Promise<boolean>;
}

interface Counter {
  left: number;
  /** When `left` was last updated, in ms since the epoch. */
  at: number;
  interval: number;
}

interface Lister extends Counter {
  /** When the next request is served without a count in the table, in ms since the epoch. */
  freeAt: number;
  /** The window in which all others are refused, at no cost. */
  refusedIn: number;
}

const SECOND = 1_000;

export function pollLimit(now: () => number): PollLimit {
  const { polls, lists, uncountedLists } = limits;
  const tasks = new Map<string, Counter>();
  const listers = new Map<string, Lister>();
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

  /** How long the owner has to wait, in ms. 0: this request is served. */
  async function pauseOf(principal: Principal, store: StreamCountStore): Promise<number> {
    const owner = listPartition(principal);
    const fresh = { left: uncountedLists.burst, at: now(), interval: SECOND, freeAt: 0, refusedIn: -1 };
    const lister = listers.get(owner ?? '') ?? fresh;
    setBounded(listers, owner ?? '', lister, lists.owners);
    if (owner !== undefined && now() >= lister.freeAt) {
      lister.freeAt = now() + lists.free;
      return 0;
    }
    const window = Math.floor(now() / lists.window);
    const isRefused = window === lister.refusedIn;
    const served = isRefused ? false : owner && (await countedList(owner, store));
    if (served === undefined) return take(lister, uncountedLists) ? 0 : SECOND;
    if (served) return 0;
    lister.refusedIn = window;
    return Math.max(1, (window + 1) * lists.window - now());
  }

  /** Whether it is served; undefined in an outage. */
  async function countedList(owner: string, store: StreamCountStore): Promise<boolean | undefined> {
    try {
      return await store.countList(owner, lists.most, now(), lists.window);
    } catch (error) {
      if (!isOutage(error)) throw error;
      logUnexpected(error, 'list count');
      return undefined;
    }
  }

  return {
    count,
    setInterval,
    countShown(key) {
      count(key);
      setInterval(key, limits.pollInterval.min);
    },
    async countList(principal, { store }) {
      const pause = await pauseOf(principal, store);
      if (pause > 0) throw new TooManyLists(Math.ceil(pause / SECOND));
    },
    mayReadMany: async (principal, { store }) => (await pauseOf(principal, store)) === 0,
  };
}
