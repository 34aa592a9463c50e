import { setTimeout as sleep } from 'node:timers/promises';
import { isPassing } from './client.ts';

/** How long a call is made again, in milliseconds. */
const LONGEST = 60_000;
/**
 * The longest pause between the tries of a call, in milliseconds: as long after many tries as after one. Where more calls come than AWS
 * takes, those that wait would else lose to new ones until their minute is over.
 */
const PAUSE = 1_000;
const PAUSES = 80;

/**
 * Makes a call of AWS, and again for a minute while it fails by an outage or a throttle. For what is lost if the call fails: the AWS
 * SDK gives up after seconds, and after some hundred throttles of one client it repeats nothing. The call must be repeatable.
 * Rejects with the last error.
 */
export async function patiently<T>(call: () => Promise<T>, wait: (ms: number) => Promise<unknown> = sleep): Promise<T> {
  const until = performance.now() + LONGEST;
  for (let pauses = 0; pauses < PAUSES; pauses++) {
    try {
      return await call();
    } catch (error) {
      if (!isPassing(error) || performance.now() > until) throw error;
    }
    // Of many that are refused at the same time not all come back at the same time.
    await wait(PAUSE * (0.5 + Math.random() / 2));
  }
  return call();
}
