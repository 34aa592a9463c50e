import { setTimeout as sleep } from 'node:timers/promises';

/** The pause before each new try, in milliseconds. */
const PAUSES = [1_000, 2_000, 4_000, 8_000, 16_000];

/** A request without an answer, which may have arrived. */
export class Lost extends Error {}

interface Failure {
  readonly status?: unknown;
  readonly code?: unknown;
  readonly data?: { readonly status?: unknown; readonly reason?: unknown };
}

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

/** The reasons of errors that another try may pass (functions/tasks/errors.ts, functions/mcp/read/results.ts). */
const PASSING: readonly unknown[] = ['Unavailable', 'ResultUnavailable'];

/**
 * Whether a retry may help. `fetch` throws a TypeError without a connection, and a SyntaxError for an answer that was cut; the clients put
 * the HTTP status into errors.
 */
export function isPassing(error: unknown): boolean {
  if (error instanceof Lost || error instanceof TypeError || error instanceof SyntaxError) return true;
  const { status, data, code } = error as Failure;
  if (PASSING.includes(data?.reason)) return true;
  return [status, data?.status, code].some((found) => found === 429 || (Number(found) >= 500 && Number(found) < 600));
}
