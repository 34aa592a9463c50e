/**
 * A failure that a state machine can see: `error` is the name that Retry and Catch match, `detail` becomes its Cause,
 * '' if it has none. `Error.cause` is something else.
 *
 * @example throw new StatesError('Lambda.TooManyRequestsException', 'Rate exceeded');
 */
export class StatesError extends Error {
  readonly error: string;
  readonly detail: string;

  constructor(error: string, cause = '') {
    super(cause === '' ? error : `${error}: ${cause}`);
    this.name = 'StatesError';
    this.error = error;
    this.detail = cause;
  }
}

/** Turns a thrown value into a StatesError. One that is not a StatesError gets the name `otherwise`. */
export function asStatesError(thrown: unknown, otherwise = 'States.Runtime'): StatesError {
  if (thrown instanceof StatesError) return thrown;
  return new StatesError(otherwise, thrown instanceof Error ? thrown.message : String(thrown));
}

/** The value of `$states.errorOutput`, and the output of a Catch without Output. */
export function errorOutput(failure: StatesError): { Error: string; Cause: string } {
  return { Error: failure.error, Cause: failure.detail };
}
