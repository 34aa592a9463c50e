import { isDeepStrictEqual } from 'node:util';
import { lapse } from '../../../../functions/tasks/deadlines.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import { isTerminal } from '../../../../functions/tasks/transitions/change.ts';
import type { Truth } from './truth.ts';
import { SKEW } from './writes.ts';

/** A task as a client was shown it, in either revision. */
export interface Shown {
  readonly taskId: string;
  readonly status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
  readonly inputRequests?: Readonly<Record<string, unknown>>;
}

/** What one client has been shown, one answer after the other; undefined: that there is no such task. */
export type Reader = (taskId: string, shown: Shown | undefined, askedAt: number, now: number) => void;

/** Reads agree with each other and with the time, also after crashes. */
export function createReader(truth: Truth): Reader {
  const ends = new Map<string, Shown>();
  return (taskId, shown, askedAt, now) => {
    const task = truth.task(taskId);
    const must = (holds: boolean, rule: string) => {
      if (!holds) truth.violated(`${rule}: ${taskId} is shown as ${shown?.status ?? 'unknown'}`);
    };
    if (task === undefined) return must(false, 'A task whose id a client has, has a record');
    const { createdAt, ttl, deadlineAt } = task.record;
    if (shown === undefined) return must(now + SKEW >= createdAt + ttl, 'A task can be read until its ttl has passed');
    must(askedAt - SKEW < createdAt + ttl, 'A task cannot be read once its ttl has passed');
    const end = deadlineAt + limits.deadlineGrace;
    must(isTerminal(shown.status) || askedAt - SKEW <= end, 'A task is over by its deadline and the grace');
    const before = ends.get(taskId);
    // Two clocks may differ on whether that time has come.
    const onEdge = lapse(task.record, now + SKEW) !== undefined && lapse(task.record, now - 2 * SKEW) === undefined;
    const excused = before === undefined || task.overtaken || onEdge;
    const same = excused || isDeepStrictEqual(lasting(before), lasting(shown));
    must(same, `A task that was shown as ${before?.status} stays as it was`);
    if (isTerminal(shown.status)) ends.set(taskId, shown);
  };
}

/** Without what is advice for the next poll. */
function lasting(shown: Shown): object {
  const { pollInterval: _, pollIntervalMs: __, ...rest } = shown as Shown & Record<string, unknown>;
  return rest;
}
