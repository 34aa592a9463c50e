import { DescribeExecutionCommand, type SFNClient } from '@aws-sdk/client-sfn';

/** What Step Functions says of an execution. */
export interface Execution {
  readonly status: 'missing' | 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED';
  /** The name of its error. */
  readonly error?: string | undefined;
  /** JSON text. */
  readonly input?: string | undefined;
  /** JSON text. */
  readonly output?: string | undefined;
  /** In ms since the epoch, as `stoppedAt`. */
  readonly startedAt?: number | undefined;
  readonly stoppedAt?: number | undefined;
}

/** Asks Step Functions about an execution. It may be a moment behind, so do not ask for one that was just started. */
export function describer(stepFunctions: Pick<SFNClient, 'send'>): (executionArn: string) => Promise<Execution> {
  return async (executionArn) => {
    try {
      const found = await stepFunctions.send(new DescribeExecutionCommand({ executionArn }));
      const { status = 'RUNNING', error, input, output, startDate, stopDate } = found;
      return {
        // Only children of Map runs have the status PENDING_REDRIVE.
        status: status === 'PENDING_REDRIVE' ? 'RUNNING' : status,
        error,
        input,
        output,
        startedAt: startDate?.getTime(),
        stoppedAt: stopDate?.getTime(),
      };
    } catch (error) {
      if ((error as Error).name === 'ExecutionDoesNotExist') return { status: 'missing' };
      throw error;
    }
  };
}
