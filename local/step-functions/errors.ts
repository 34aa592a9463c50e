/**
 * A failure a state machine can see: `error` is the name Retry and Catch match, `cause_` the text beside it
 * ('' when there is none; the underscore keeps it apart from `Error.cause`).
 *
 * @example throw new StatesError('Lambda.TooManyRequestsException', 'Rate exceeded');
 */
export class StatesError extends Error {
  readonly error: string;
  readonly cause_: string;

  constructor(error: string, cause = '') {
    super(cause === '' ? error : `${error}: ${cause}`);
    this.name = 'StatesError';
    this.error = error;
    this.cause_ = cause;
  }
}

/** What was thrown, as a StatesError; anything unnamed gets the name `otherwise`. */
export function asStatesError(thrown: unknown, otherwise = 'States.Runtime'): StatesError {
  if (thrown instanceof StatesError) return thrown;
  return new StatesError(otherwise, thrown instanceof Error ? thrown.message : String(thrown));
}

/** What `$states.errorOutput` holds and a Catch without Output hands to the next state. */
export function errorOutput(failure: StatesError): { Error: string; Cause: string } {
  return { Error: failure.error, Cause: failure.cause_ };
}
