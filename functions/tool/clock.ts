import { setTimeout as pause } from 'node:timers/promises';
import type { TaskContext } from '../tasks/tool-contract.ts';
import { TaskEnded } from './errors.ts';

/** The time of a run, in milliseconds. Tests move it. */
export interface Clock {
  /** Since the epoch. */
  now(): number;
  /** How long the function may still run. */
  left(): number;
  /** Waits. Throws TaskEnded once the signal is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** The part of the context of Lambda that a run uses. */
export interface LambdaContext {
  getRemainingTimeInMillis(): number;
}

export const clockOf = (context?: LambdaContext): Clock => ({
  now: Date.now,
  left: () => context?.getRemainingTimeInMillis?.() ?? Number.POSITIVE_INFINITY,
  async sleep(ms, signal) {
    await pause(ms, undefined, { signal }).catch(() => {
      throw new TaskEnded();
    });
  },
});

/**
 * The time of a run that is kept free for its end, in ms: a tenth of what it has, at least 5 s or a quarter of that, at most a minute.
 */
const marginOf = (total: number): number => Math.min(60_000, Math.max(total / 10, Math.min(5_000, total / 4)));

/**
 * Makes the function that says how long the run may still work, in ms: until its function, or the workflow that calls it, has to
 * end. Negative: too little is left to begin something.
 */
export function spareOf(clock: Clock, task: TaskContext | undefined): () => number {
  const { deadline = 0, taskDeadline = deadline } = task ?? {};
  const left = () =>
    Math.min(clock.left(), deadline < taskDeadline ? deadline - clock.now() : Number.POSITIVE_INFINITY);
  const margin = marginOf(left());
  return () => left() - margin;
}
