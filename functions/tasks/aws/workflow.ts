import { type SFNClient, StartExecutionCommand, StopExecutionCommand } from '@aws-sdk/client-sfn';
import { isThrottlingError } from '@smithy/core/retry';
import { NoMachine, TooManyStarts } from '../errors.ts';
import { executionArnOf, executionName } from '../ids.ts';
import type { TaskRecord } from '../record.ts';
import type { AwsFailure } from './client.ts';

type Round = Pick<TaskRecord, 'taskId' | 'round'>;

/** The engine's `Workflow` on Step Functions. The ARN of every tool workflow of this server begins with `machineArnPrefix`. */
export function workflow(stepFunctions: Pick<SFNClient, 'send'>, machineArnPrefix: string) {
  return {
    async start(record: Round, machine: string, input: string): Promise<'taken' | undefined> {
      const name = executionName(record.taskId, record.round);
      const start = new StartExecutionCommand({ stateMachineArn: machineArnPrefix + machine, name, input });
      start.middlewareStack.add((next) => (args) => next(args).catch(asFull), WITHIN_RETRIES);
      try {
        await stepFunctions.send(start);
      } catch (error) {
        const { name: kind, $metadata: { attempts = 1 } = {} } = error as AwsFailure;
        if (isFull(error as Error)) throw new TooManyStarts(attempts === 1);
        if (NO_MACHINE.includes(kind)) throw new NoMachine(attempts === 1);
        if (kind !== 'ExecutionAlreadyExists') throw error;
        // The first attempt may have started it, before a second one found the name taken.
        return attempts > 1 ? undefined : 'taken';
      }
      return undefined;
    },
    async stop(record: Round, machine: string): Promise<void> {
      const executionArn = executionArnOf(record, machineArnPrefix + machine);
      await stepFunctions.send(new StopExecutionCommand({ executionArn, cause: 'The task is over' }));
    },
  };
}

/** During a deployment that changes the engine of a tool. */
const NO_MACHINE = ['StateMachineDoesNotExist', 'StateMachineDeleting'];

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
