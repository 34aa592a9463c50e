import { type SFNClient, StartExecutionCommand, StopExecutionCommand } from '@aws-sdk/client-sfn';
import { isThrottlingError } from '@smithy/core/retry';
import type { AwsFailure } from './aws/client.ts';
import { NoMachine, TooManyStarts } from './errors.ts';
import { executionName } from './ids.ts';
import { answersByName, requestState } from './input.ts';
import { limits } from './limits.ts';
import type { TaskKey, TaskRecord } from './record.ts';

/** The input of a tool workflow: `$states.context.Execution.Input` in `lib/workflow`. */
export interface RoundInput extends TaskKey {
  readonly tool: string;
  readonly round: number;
  readonly deadlineAt: number;
  /** JSON text: JSONata's own $string would round its numbers to 15 digits. */
  readonly arguments: string;
  /** False: the record does not need them when the tool asks: they are in S3, or no client can answer. @default true */
  readonly keepArguments?: false;
  readonly accepts: readonly string[];
  readonly inputResponses: Readonly<Record<string, unknown>>;
  readonly requestState: unknown;
  readonly traceparent?: string;
}

export interface Workflow {
  /**
   * Starts the record's current round. A second start does nothing: the execution is named after the round. `taken`:
   * another start has used that name, with another input, or for an execution that has ended. On Express each start is
   * one more run. Throws TooManyStarts.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: most callers ignore it.
  start(record: TaskRecord, machine: string, input: string): Promise<'taken' | void>;
  /** Best effort: the record is final already, so a run that goes on cannot change it. */
  stop(record: TaskRecord, machine: string): Promise<void>;
}

/**
 * The input of the current round of a whole record. Undefined when it is too large for Step Functions. `args` is the
 * JSON text of the tool's arguments; `keepArguments` as in RoundInput.
 */
export function roundInput(record: TaskRecord, args: string, keepArguments = true): string | undefined {
  const input: RoundInput = {
    owner: record.owner,
    taskId: record.taskId,
    tool: record.tool,
    round: record.round,
    deadlineAt: record.deadlineAt,
    arguments: args,
    ...(!keepArguments && { keepArguments }),
    accepts: record.accepts ?? [],
    inputResponses: answersByName(record),
    requestState: requestState(record),
    ...(record.traceparent !== undefined && { traceparent: record.traceparent }),
  };
  const text = JSON.stringify(input);
  return Buffer.byteLength(text) <= limits.executionInput ? text : undefined;
}

/** The execution of a record's round. */
export function executionArnOf({ taskId, round }: Pick<TaskRecord, 'taskId' | 'round'>, machineArn: string): string {
  return `${machineArn.replace(':stateMachine:', ':execution:')}:${executionName(taskId, round)}`;
}

/** The ARN of every tool workflow of this server begins with `machineArnPrefix`. */
export function workflow(stepFunctions: Pick<SFNClient, 'send'>, machineArnPrefix: string): Workflow {
  return {
    async start(record, machine, input) {
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
    async stop(record, machine) {
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
