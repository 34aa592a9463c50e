import { isThrottlingError, isTransientError } from '@smithy/core/retry';
import { TaskUnread } from '../../tasks/errors.ts';
import { logUnexpected } from '../../tasks/log.ts';

/**
 * Whether an error means that AWS could not do it now and may do it soon: it throttles, is out of reach, or failed on its
 * side. What the SDK repeats, it has repeated by then.
 */
export function isOutage(error: unknown): error is Error {
  return isThrottled(error) || (error instanceof Error && isTransientError(error as SdkError));
}

/** The one kind of outage in which AWS has surely done nothing. */
export function isThrottled(error: unknown): error is Error {
  return error instanceof Error && isThrottlingError(error as SdkError);
}

/** For whoever waits for a task that was started: an outage is no reason to make the call again, which starts another. */
export function asTaskUnread(error: unknown, taskId: string): unknown {
  if (!isOutage(error)) return error;
  logUnexpected(error, 'waiting for a task');
  return new TaskUnread(taskId);
}

type SdkError = Parameters<typeof isThrottlingError>[0];
