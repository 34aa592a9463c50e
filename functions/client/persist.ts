import { setTimeout as sleep } from 'node:timers/promises';

/** The pause before each new try, in milliseconds. */
const PAUSES = [1_000, 2_000, 4_000, 8_000, 16_000];

/** A request without an answer, which may have arrived. */
export class Lost extends Error {}

/** Repeats work while the network or a busy server makes it fail, or an error 500 to 599. The work must allow this. */
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

/** Whether a retry may help. `fetch` throws a TypeError without a connection; the clients put the HTTP status into errors. */
function isPassing(error: unknown): boolean {
  if (error instanceof Lost || error instanceof TypeError) return true;
  const { status, data, code } = error as { status?: unknown; data?: { status?: unknown }; code?: unknown };
  return [status, data?.status, code].some((found) => found === 429 || (Number(found) >= 500 && Number(found) < 600));
}
