import { isThrottlingError, isTransientError } from '@smithy/core/retry';
import { TaskUnread, Unavailable } from '../../tasks/errors.ts';
import { logUnexpected } from '../../tasks/log.ts';

/**
 * Whether an error is a temporary failure of AWS: it throttles, is out of reach, or failed on its side. The SDK has
 * used up its retries by then.
 */
export function isOutage(error: unknown): error is Error {
  return isThrottled(error) || (error instanceof Error && isTransientError(error as SdkError));
}

/** The only kind of outage in which AWS certainly did nothing. */
export function isThrottled(error: unknown): error is Error {
  return error instanceof Error && isThrottlingError(error as SdkError);
}

/**
 * The error for a client that waits for a started task. In an outage it must not repeat the call: that starts another
 * task.
 */
export function asTaskUnread(error: unknown, taskId: string): unknown {
  if (!isOutage(error) && !(error instanceof Unavailable)) return error;
  logUnexpected(error, 'waiting for a task');
  return new TaskUnread(taskId);
}

type SdkError = Parameters<typeof isThrottlingError>[0];
