/** Ends a run with a result that says `isError`, and this message for the model and the person: choose it for them. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

/** The task was cancelled, given up or superseded. Every method of `task` throws it, so that the run ends. */
export class TaskEnded extends Error {
  override readonly name = 'TaskEnded';

  constructor() {
    super('The task is no longer this run’s to work on');
  }
}

/** A run returned what does not fit its outputSchema. The task fails; the author finds the problems in the tool's log. */
export class ResultMisfit extends Error {
  override readonly name = 'ResultMisfit';

  constructor(problems: string) {
    super(`The result does not fit the outputSchema: ${problems}`);
  }
}
