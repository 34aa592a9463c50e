/** Ends a run with a result that says `isError`, and this message for the model and the person: choose it for them. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

/** The task was cancelled, given up or superseded: thrown by every method of `task`, so that a run unwinds. */
export class TaskEnded extends Error {
  override readonly name = 'TaskEnded';

  constructor() {
    super('The task is no longer this run’s to work on');
  }
}

/** Names that Lambda and Step Functions give to errors of their own. */
const RESERVED = /^(?:Extension|Function|Lambda|Runtime|Sandbox|States)\./;

/** The error for Lambda to report: the workflow tries a run again by the name of its error, so no tool may borrow one. */
export function toolFailure(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || !RESERVED.test(thrown.name)) return thrown;
  return Object.assign(new Error(thrown.message, { cause: thrown }), { name: 'ToolFailed' });
}
