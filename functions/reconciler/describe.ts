import { DescribeExecutionCommand, ExecutionDoesNotExist, type SFNClient } from '@aws-sdk/client-sfn';
import type { Run } from './decide.ts';
import type { Described } from './reconcile.ts';

/** What Step Functions says of an execution; it may be a moment behind, so nobody asks for a young one. */
export function describer(sfn: SFNClient): (executionArn: string) => Promise<Described> {
  return async (executionArn) => {
    try {
      const { status, error, input } = await sfn.send(new DescribeExecutionCommand({ executionArn }));
      // PENDING_REDRIVE is a status of Map runs' children only.
      return { status: status === 'PENDING_REDRIVE' ? 'RUNNING' : (status as Run['status']), error, input };
    } catch (error) {
      if (error instanceof ExecutionDoesNotExist) return { status: 'missing' };
      throw error;
    }
  };
}
