import { setTimeout as pause } from 'node:timers/promises';
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
  left: () => context?.getRemainingTimeInMillis() ?? Number.POSITIVE_INFINITY,
  async sleep(ms, signal) {
    await pause(ms, undefined, { signal }).catch(() => {
      throw new TaskEnded();
    });
  },
});
