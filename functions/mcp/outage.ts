import { isThrottlingError, isTransientError } from '@smithy/core/retry';

/**
 * Whether an error means that AWS could not do it now and may do it soon: it throttles, is out of reach, or failed on its
 * side. What the SDK repeats, it has repeated by then.
 */
export function isOutage(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const judged = error as Parameters<typeof isThrottlingError>[0];
  return isThrottlingError(judged) || isTransientError(judged);
}
