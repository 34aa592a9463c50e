import { DescribeExecutionCommand, ExecutionDoesNotExist, type SFNClient } from '@aws-sdk/client-sfn';

/** What Step Functions says of an execution. */
export interface Execution {
  readonly status: 'missing' | 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED';
  /** The name of the error it ended with. */
  readonly error?: string | undefined;
  /** JSON text of what it was started with. */
  readonly input?: string | undefined;
  /** JSON text of what it returned. */
  readonly output?: string | undefined;
  /** In ms since the epoch. */
  readonly stoppedAt?: number | undefined;
}

/** What Step Functions says of an execution; it may be a moment behind, so nobody asks for a young one. */
export function describer(sfn: SFNClient): (executionArn: string) => Promise<Execution> {
  return async (executionArn) => {
    try {
      const found = await sfn.send(new DescribeExecutionCommand({ executionArn }));
      const { error, input, output } = found;
      // PENDING_REDRIVE is a status of Map runs' children only.
      const status = found.status === 'PENDING_REDRIVE' ? 'RUNNING' : (found.status as Execution['status']);
      return { status, error, input, output, stoppedAt: found.stopDate?.getTime() };
    } catch (error) {
      if (error instanceof ExecutionDoesNotExist) return { status: 'missing' };
      throw error;
    }
  };
}
