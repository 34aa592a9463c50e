import { setTimeout as sleep } from 'node:timers/promises';
import { isPassing } from './client.ts';

const LONGEST = 60_000;
/** The pauses between the tries of a call, in milliseconds. A try may take seconds, too. */
const PAUSES = [500, 1_000, 2_000, 4_000, ...Array<number>(12).fill(5_000)];

/**
 * Makes a call of AWS, and again for a minute while it fails by an outage or a throttle. For what is lost if the call fails: the AWS
 * SDK gives up after seconds, and after some hundred throttles of one client it repeats nothing. The call must be repeatable.
 * Rejects with the last error.
 */
export async function patiently<T>(call: () => Promise<T>, wait: (ms: number) => Promise<unknown> = sleep): Promise<T> {
  const until = performance.now() + LONGEST;
  for (const pause of PAUSES) {
    try {
      return await call();
    } catch (error) {
      if (!isPassing(error) || performance.now() > until) throw error;
    }
    // Of many that are refused at the same time not all come back at the same time.
    await wait(pause * (0.5 + Math.random() / 2));
  }
  return call();
}
