import { DescribeExecutionCommand, ExecutionDoesNotExist, type SFNClient } from '@aws-sdk/client-sfn';

/** What Step Functions says of an execution. */
export interface Execution {
  readonly status: 'missing' | 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED';
  /** The name of its error. */
  readonly error?: string | undefined;
  /** JSON text. */
  readonly input?: string | undefined;
  /** JSON text. */
  readonly output?: string | undefined;
  /** In ms since the epoch. */
  readonly stoppedAt?: number | undefined;
}

/** Asks Step Functions about an execution. It may be a moment behind, so do not ask for one that was just started. */
export function describer(sfn: SFNClient): (executionArn: string) => Promise<Execution> {
  return async (executionArn) => {
    try {
      const found = await sfn.send(new DescribeExecutionCommand({ executionArn }));
      const { error, input, output } = found;
      // Only children of Map runs have the status PENDING_REDRIVE.
      const status = found.status === 'PENDING_REDRIVE' ? 'RUNNING' : (found.status as Execution['status']);
      return { status, error, input, output, stoppedAt: found.stopDate?.getTime() };
    } catch (error) {
      if (error instanceof ExecutionDoesNotExist) return { status: 'missing' };
      throw error;
    }
  };
}
