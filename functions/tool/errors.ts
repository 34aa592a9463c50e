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
