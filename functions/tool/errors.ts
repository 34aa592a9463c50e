/** Ends a run with an error result and this message. Write it for the model and the person, who see it. */
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

/** A run returned a value that does not fit its outputSchema. The task fails; the tool's log has the problems. */
export class ResultMisfit extends Error {
  override readonly name = 'ResultMisfit';

  constructor(problems: string) {
    super(`The result does not fit the outputSchema: ${problems}`);
  }
}
