import { setTimeout as sleep } from 'node:timers/promises';

/** Before each new try, in ms. */
const PAUSES = [1_000, 2_000, 4_000, 8_000, 16_000];

/** There was no answer, but the request may have arrived. */
export class Lost extends Error {}

/** Repeats work that may be repeated, while it fails by the network, a busy server or an error 500 to 599. */
export async function persist<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  for (const pause of PAUSES) {
    try {
      return await work();
    } catch (error) {
      if (signal?.aborted || !isPassing(error)) throw error;
      await sleep(pause, undefined, { signal });
    }
  }
  return work();
}

/** `fetch` throws a TypeError without a connection. The clients put the HTTP status into their errors. */
function isPassing(error: unknown): boolean {
  if (error instanceof Lost || error instanceof TypeError) return true;
  const { status, data, code } = error as { status?: unknown; data?: { status?: unknown }; code?: unknown };
  return [status, data?.status, code].some((found) => found === 429 || (Number(found) >= 500 && Number(found) < 600));
}
