import { isThrottlingError, isTransientError } from '@smithy/core/retry';
import { McpError, TaskUnread, Unavailable } from '../../tasks/errors.ts';
import { logUnexpected } from '../../tasks/log.ts';

/** Whether AWS throttles, is out of reach, or failed on its side, after all retries of the SDK. */
export function isOutage(error: unknown): error is Error {
  // Any other McpError may have an error of AWS as its cause, which the SDK judges, too.
  if (error instanceof McpError) return error instanceof Unavailable;
  return isThrottled(error) || (error instanceof Error && isTransientError(error as SdkError));
}

/** The only kind of outage in which AWS certainly did nothing. */
export function isThrottled(error: unknown): error is Error {
  return error instanceof Error && isThrottlingError(error as SdkError);
}

/** For a client that waits for a started task: in an outage it must not repeat the call, which starts another. */
export function asTaskUnread(error: unknown, taskId: string): unknown {
  if (!isOutage(error)) return error;
  logUnexpected(error, 'waiting for a task');
  return new TaskUnread(taskId, error);
}

type SdkError = Parameters<typeof isThrottlingError>[0];
