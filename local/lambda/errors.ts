import { AwsError } from '../aws-error.ts';
import type { ErrorBody } from './protocol.ts';

export class FunctionError extends Error {
  override readonly name = 'FunctionError';
  readonly errorType: string;
  /** The error body as Invoke would return it. */
  readonly payload: string;

  constructor(body: ErrorBody) {
    super(`${body.errorType}: ${body.errorMessage}`);
    this.errorType = body.errorType;
    this.payload = JSON.stringify(body);
  }
}

export function timedOut(requestId: string, seconds: number): ErrorBody {
  const errorMessage = `RequestId: ${requestId} Error: Task timed out after ${seconds.toFixed(2)} seconds`;
  return { errorType: 'Sandbox.Timedout', errorMessage };
}

/** @param how `exit status 1`, `signal: killed`; undefined for exit status 0, which AWS words differently. */
export function runtimeExited(requestId: string, how: string | undefined): ErrorBody {
  const end = how === undefined ? 'Runtime exited without providing a reason' : `Runtime exited with error: ${how}`;
  return { errorType: 'Runtime.ExitError', errorMessage: `RequestId: ${requestId} Error: ${end}` };
}

/** The name of the error of a function or a state machine that the embedded cloud cannot run. AWS has no such error. */
export const NOT_RUN_LOCALLY = 'NotRunLocally';

export function notRunLocally(why: string): ErrorBody {
  return { errorType: NOT_RUN_LOCALLY, errorMessage: why, trace: [] };
}

export function functionNotFound(nameOrArn: string): AwsError {
  return new AwsError('ResourceNotFoundException', `Function not found: ${nameOrArn}`, 404);
}

/** The `Reason` of a TooManyRequestsException. */
export type ThrottleReason = 'ConcurrentInvocationLimitExceeded' | 'ReservedFunctionConcurrentInvocationLimitExceeded';

export class Throttled extends AwsError {
  readonly reason: ThrottleReason;

  constructor(reason: ThrottleReason) {
    super('TooManyRequestsException', 'Rate Exceeded.', 429);
    this.reason = reason;
  }
}

export function throttled(reason: ThrottleReason = 'ConcurrentInvocationLimitExceeded'): Throttled {
  return new Throttled(reason);
}

export function stopped(): AwsError {
  return new AwsError('ServiceException', 'The embedded Lambda has been stopped.', 500);
}
