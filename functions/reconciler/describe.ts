import type { AwsJson } from '../tasks/aws/aws-json.ts';

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

type DescribedExecution = Pick<Execution, 'error' | 'input' | 'output'> & {
  readonly status: Exclude<Execution['status'], 'missing'> | 'PENDING_REDRIVE';
  /** In seconds since the epoch, with a fraction. */
  readonly stopDate?: number;
};

/** Asks Step Functions about an execution. It may be a moment behind, so do not ask for one that was just started. */
export function describer(stepFunctions: AwsJson): (executionArn: string) => Promise<Execution> {
  return async (executionArn) => {
    try {
      const found = (await stepFunctions('DescribeExecution', { executionArn })) as unknown as DescribedExecution;
      const { error, input, output, stopDate } = found;
      // Only children of Map runs have the status PENDING_REDRIVE.
      const status = found.status === 'PENDING_REDRIVE' ? 'RUNNING' : found.status;
      return { status, error, input, output, stoppedAt: stopDate && Math.round(stopDate * 1_000) };
    } catch (error) {
      if ((error as Error).name === 'ExecutionDoesNotExist') return { status: 'missing' };
      throw error;
    }
  };
}
