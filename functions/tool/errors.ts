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

/**
 * A step with `atMostOnce` was begun by a run that did not store its result: it may have done its work, or a part of it. The
 * step throws this from then on. A tool may catch it.
 */
export class StepInterrupted extends Error {
  override readonly name = 'StepInterrupted';

  constructor(step: string) {
    super(`Step '${step}' was begun and not finished: it may have done its work, and does not run again`);
  }
}

/** The stored result of a step is missing in S3, or is another text. The step does not run again. */
export class StepLost extends Error {
  override readonly name = 'StepLost';

  constructor(step: string) {
    super(`The stored result of step '${step}' is missing, or is not the one that was stored`);
  }
}
