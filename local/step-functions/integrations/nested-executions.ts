import { setTimeout as sleep } from 'node:timers/promises';
import {
  DescribeExecutionCommand,
  type DescribeExecutionCommandOutput,
  type SFNClient,
  SFNServiceException,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import { isObject, type JsonObject, objectOf, stringOf } from '../../json.ts';
import { type Integration, type IntegrationCall, StatesError } from '../index.ts';
import { withMetadata } from './sdk-answer.ts';

/** Options of tasks that start or describe executions of other machines, through the endpoint of the functions. */
export interface ExecutionOptions {
  readonly clientOf: (roleArn: string) => SFNClient;
  /** Resolves once an execution has closed. */
  readonly closed: (executionArn: string) => Promise<void>;
  /** Delivers the event of its end to the waiting task; false if the event is lost. */
  readonly endEventDelivered: (executionArn: string) => Promise<boolean>;
  /** Divides the pause between two polls. */
  readonly timeScale: number;
}

/** The rule that delivers the events of ends. Step Functions creates it in the account of the state machine. */
export const ENDS_RULE = 'StepFunctionsGetEventsForStepFunctionsExecutionRule';
/**
 * "Step Functions uses EventBridge events and polls the APIs that you specify in the Task state" (developer guide,
 * "Discover service integration patterns"). It does not say how often it polls.
 */
const POLL_MS = 300_000;

const CAUSE = 32_768;

/**
 * `startExecution.sync`: starts, waits, and returns what DescribeExecution returns, input and output as text
 * (`.sync:2`: as JSON). Stops the execution if the task ends before it, for any reason.
 */
export function startExecutionSync(options: ExecutionOptions, parsed: boolean): Integration {
  return async (call) => {
    const sfn = options.clientOf(call.roleArn);
    const { executionArn } = await start(sfn, call);
    const stop = () => {
      const cause = `The Task state in AWS Step Functions execution [${call.executionArn}] which was managing this resource was aborted`;
      // Best effort, as on AWS.
      sfn.send(new StopExecutionCommand({ executionArn, cause })).catch(() => undefined);
    };
    if (call.signal.aborted) stop();
    else call.signal.addEventListener('abort', stop, { once: true });
    let polled: DescribeExecutionCommandOutput | undefined;
    try {
      await options.closed(executionArn);
      if (!(await options.endEventDelivered(executionArn))) polled = await poll(sfn, executionArn, call, options);
      call.signal.throwIfAborted();
    } finally {
      call.signal.removeEventListener('abort', stop);
    }
    const found =
      polled ?? (await withErrorName('StepFunctions', sfn.send(new DescribeExecutionCommand({ executionArn }))));
    const output = described(found, (date) => date.getTime(), parsed);
    if (found.status === 'SUCCEEDED') return output;
    throw new StatesError('States.TaskFailed', JSON.stringify(output).slice(0, CAUSE));
  };
}

/** Polls after a lost event, when the execution has already closed. Repeats a poll that fails. */
async function poll(
  sfn: SFNClient,
  executionArn: string,
  { signal }: IntegrationCall,
  { timeScale }: ExecutionOptions,
): Promise<DescribeExecutionCommandOutput> {
  for (;;) {
    await sleep(POLL_MS / timeScale, undefined, { signal, ref: false });
    const found = await sfn.send(new DescribeExecutionCommand({ executionArn })).catch(() => undefined);
    if (found !== undefined) return found;
  }
}

/** `aws-sdk:sfn:describeExecution` */
export function describeExecution({ clientOf }: ExecutionOptions): Integration {
  return async (call) => {
    const executionArn = String(objectOf(call.arguments).ExecutionArn);
    const found = await withErrorName(
      'Sfn',
      clientOf(call.roleArn).send(new DescribeExecutionCommand({ executionArn })),
    );
    return described(found, (date) => date.toISOString(), false);
  };
}

/** `startExecution`: starts, and does not wait. */
export function startExecution({ clientOf }: ExecutionOptions): Integration {
  return async (call) => {
    const { executionArn, startDate } = await start(clientOf(call.roleArn), call);
    const output = { ExecutionArn: executionArn, StartDate: startDate?.getTime() };
    return withMetadata(output, Buffer.byteLength(JSON.stringify(output)));
  };
}

async function start(
  sfn: SFNClient,
  call: IntegrationCall,
): Promise<{ readonly executionArn: string; readonly startDate?: Date | undefined }> {
  const input = objectOf(call.arguments);
  const [stateMachineArn, name] = [String(input.StateMachineArn), String(input.Name ?? call.id)];
  const request = { stateMachineArn, name, input: JSON.stringify(input.Input ?? {}) };
  const before = call.lost ? await startedBefore(sfn, request) : undefined;
  if (before !== undefined) return { executionArn: before };
  const { executionArn = '', startDate } = await withErrorName(
    'StepFunctions',
    sfn.send(new StartExecutionCommand(request)),
  );
  return { executionArn, startDate };
}

/** Finds the execution that a lost call may have started, by its name and input. */
async function startedBefore(
  sfn: SFNClient,
  { stateMachineArn, name, input }: { stateMachineArn: string; name: string; input: string },
): Promise<string | undefined> {
  const executionArn = `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${name}`;
  const asked = sfn.send(new DescribeExecutionCommand({ executionArn })).catch((error: unknown) => {
    if (isObject(error) && error.name === 'ExecutionDoesNotExist') return undefined;
    throw error;
  });
  return (await withErrorName('StepFunctions', asked))?.input === input ? executionArn : undefined;
}

/** Capitalizes the names of members, as every integration does. */
function described(
  { $metadata: _, ...found }: DescribeExecutionCommandOutput,
  dateOf: (date: Date) => unknown,
  parsed: boolean,
): JsonObject {
  const value = (name: string, member: unknown): unknown => {
    if (member instanceof Date) return dateOf(member);
    if (isObject(member))
      return Object.fromEntries(Object.entries(member).map(([key, inner]) => [capitalized(key), inner]));
    return parsed && ['input', 'output'].includes(name) ? JSON.parse(String(member)) : member;
  };
  const members = Object.entries(found).filter(([, member]) => member !== undefined);
  return Object.fromEntries(
    members.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [capitalized(name), value(name, member)]),
  );
}

const capitalized = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

/** The classes of AWS's Java clients for errors that the model of the service does not name, by which the integrations call them. */
const OTHER = { StepFunctions: 'AWSStepFunctionsException', Sfn: 'SfnException' };

/** Names an error of the service like its integration does: the name always ends in Exception. */
async function withErrorName<T>(prefix: keyof typeof OTHER, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const answered = isObject(error) && isObject(error.$response);
    const name = (isObject(error) && stringOf(error.name)) || 'Error';
    const isNamed = !(isObject(error) && error.constructor === SFNServiceException);
    const named = isNamed ? `${name.replace(/Exception$/, '')}Exception` : OTHER[prefix];
    const exception = answered ? named : 'SdkClientException';
    throw new StatesError(`${prefix}.${exception}`, error instanceof Error ? error.message : String(error));
  }
}
