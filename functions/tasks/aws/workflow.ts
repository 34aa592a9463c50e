import { type SFNClient, StartExecutionCommand, StopExecutionCommand } from '@aws-sdk/client-sfn';
import { isThrottlingError } from '@smithy/core/retry';
import { engineOf } from '../engines.ts';
import { TooManyStarts } from '../errors.ts';
import { executionArnOf, executionName } from '../ids.ts';
import type { TaskRecord } from '../record.ts';
import type { AwsFailure } from './client.ts';

type Round = Pick<TaskRecord, 'taskId' | 'round' | 'engine'>;

/** The engine's `Workflow` on Step Functions. The ARN of each workflow is `machineArnPrefix` and the name of its engine. */
export function workflow(stepFunctions: Pick<SFNClient, 'send'>, machineArnPrefix: string) {
  return {
    async start(record: Round, input: string): Promise<'taken' | undefined> {
      const name = executionName(record.taskId, record.round);
      const start = new StartExecutionCommand({ stateMachineArn: machineArnPrefix + engineOf(record), name, input });
      start.middlewareStack.add((next) => (args) => next(args).catch(asFull), WITHIN_RETRIES);
      try {
        await stepFunctions.send(start);
      } catch (error) {
        const { name: kind, $metadata: { attempts = 1 } = {} } = error as AwsFailure;
        if (isFull(error as Error)) throw new TooManyStarts(attempts === 1);
        if (kind !== 'ExecutionAlreadyExists') throw error;
        // The first attempt may have started it, before a second one found the name taken.
        return attempts > 1 ? undefined : 'taken';
      }
      return undefined;
    },
    async stop(record: Round): Promise<void> {
      const executionArn = executionArnOf(record, machineArnPrefix + engineOf(record));
      await stepFunctions.send(new StopExecutionCommand({ executionArn, error: TASK_OVER, cause: 'The task is over' }));
    },
  };
}

/** The error of a run that was stopped because its task is over: the event of its end needs no more. */
export const TASK_OVER = 'TaskOver';

/** Step Functions has no room for one more execution: too many starts a second, or too many open ones. */
const isFull = (error: Error): boolean => FULL.includes(error.name) || isThrottlingError(error as SdkError);
const FULL = ['Full', 'ExecutionLimitExceeded', 'KmsThrottlingException'];
type SdkError = Parameters<typeof isThrottlingError>[0];

/** The client gets this refusal at once: the AWS client tries an error of this name no second time. */
class Full extends Error {
  override readonly name = 'Full';
}

const WITHIN_RETRIES = { step: 'deserialize', priority: 'high' } as const;

function asFull(error: Error): never {
  throw isFull(error) ? new Full() : error;
}
