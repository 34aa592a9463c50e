import { randomUUID } from 'node:crypto';
import { AwsError } from '../../aws-error.ts';
import type { JsonObject as Request } from '../../json.ts';
import type { Execution, ExecutionStore } from '../executions.ts';
import type { HistoryEvent } from '../history.ts';
import { isExpress } from '../machine/express.ts';
import type { Machine } from '../machine/machine.ts';
import type { Operation } from '../types.ts';
import { arnOf, executionInput, executionName, optionalText, page } from './request.ts';

/** The part of the engine that the operations use. */
export interface ExecutionEngine {
  readonly machines: ReadonlyMap<string, Machine>;
  readonly store: ExecutionStore;
  now(): number;
  /** Registers the execution at once and runs its first state later. */
  start(machine: Machine, name: string, input: string): Execution;
  /** Ends a running execution as ABORTED; a closed one stays unchanged. */
  abort(execution: Execution, reason: Outcome): void;
}

export interface Outcome {
  output?: string;
  error?: string;
  cause?: string;
}

/** The AWS JSON 1.0 operations over one engine. Dates are epoch seconds, input and output JSON text. */
export function createOperations(engine: ExecutionEngine): Record<string, Operation> {
  return {
    StartExecution: async (request) => startExecution(engine, request),
    StopExecution: async (request) => stopExecution(engine, request),
    DescribeExecution: async (request) => describeExecution(findExecution(engine, request)),
    ListExecutions: async (request) => listExecutions(engine, request),
    GetExecutionHistory: async (request) => executionHistory(engine, request),
  };
}

/**
 * Starts an execution, idempotently by name: the same name and input returns the running execution. The name of a closed
 * one stays taken. On Express each start runs.
 */
function startExecution(engine: ExecutionEngine, request: Request): unknown {
  const machine = findMachine(engine, request);
  const name = executionName(request) ?? randomUUID();
  const input = executionInput(request);
  const twin = engine.store.get(`${machine.executionPrefix}${name}`);
  if (twin !== undefined && (twin.status !== 'RUNNING' || twin.input !== input)) {
    throw new AwsError('ExecutionAlreadyExists', `Execution Already Exists: '${twin.arn}'`);
  }
  const { arn, startDate } = twin ?? engine.start(machine, name, input);
  return { executionArn: arn, startDate: seconds(startDate) };
}

function stopExecution(engine: ExecutionEngine, request: Request): unknown {
  const execution = findExecution(engine, request);
  const [error, cause] = [optionalText(request, 'error'), optionalText(request, 'cause')];
  engine.abort(execution, { ...(error && { error }), ...(cause && { cause }) });
  return { stopDate: seconds(execution.stopDate ?? engine.now()) };
}

function describeExecution(execution: Execution): unknown {
  const { input, output, error, cause } = execution;
  return {
    ...listed(execution),
    redriveCount: 0,
    ...(input !== undefined && { input, inputDetails: { included: true } }),
    ...(output !== undefined && { output, outputDetails: { included: true } }),
    ...(error !== undefined && { error }),
    ...(cause !== undefined && { cause }),
  };
}

function listExecutions(engine: ExecutionEngine, request: Request): unknown {
  const machine = findMachine(engine, request);
  if (isExpress(machine.spec)) {
    throw new AwsError('StateMachineTypeNotSupported', 'This operation is not supported by this type of state machine');
  }
  const status = optionalText(request, 'statusFilter');
  const matching = engine.store
    .all()
    .filter((one) => one.stateMachineArn === machine.spec.arn && (status ?? one.status) === one.status);
  const { items, ...more } = page(request, matching.reverse(), (execution) => execution.number, true);
  return { executions: items.map(listed), ...more };
}

function listed({ arn, stateMachineArn, name, status, startDate, stopDate }: Execution): Record<string, unknown> {
  return {
    executionArn: arn,
    stateMachineArn,
    name,
    status,
    startDate: seconds(startDate),
    ...(stopDate !== undefined && { stopDate: seconds(stopDate) }),
  };
}

function executionHistory(engine: ExecutionEngine, request: Request): unknown {
  const events = [...findExecution(engine, request).history.events];
  const newestFirst = request.reverseOrder === true;
  if (newestFirst) events.reverse();
  const { items, ...more } = page(request, events, (event) => event.id, newestFirst);
  return { events: items.map(historyEvent), ...more };
}

/** `TaskStateEntered` carries `stateEnteredEventDetails`, `TaskFailed` carries `taskFailedEventDetails`. */
function historyEvent({ id, previousEventId, timestamp, type, details }: HistoryEvent): unknown {
  const [move] = /State(Entered|Exited)$/.exec(type) ?? [];
  const kind = move ?? type;
  const member = `${kind.charAt(0).toLowerCase()}${kind.slice(1)}EventDetails`;
  return { id, previousEventId, timestamp: seconds(timestamp), type, ...(details && { [member]: details }) };
}

function findMachine(engine: ExecutionEngine, request: Request): Machine {
  const arn = arnOf(request, 'stateMachineArn', 'stateMachine');
  const machine = engine.machines.get(arn);
  if (machine === undefined) throw new AwsError('StateMachineDoesNotExist', `State Machine Does Not Exist: '${arn}'`);
  return machine;
}

function findExecution(engine: ExecutionEngine, request: Request): Execution {
  // The ARN of an Express execution is refused: AWS documents that Describe and Stop do not support it, but not with
  // which error. `InvalidArn` is a guess.
  const arn = arnOf(request, 'executionArn', 'execution');
  const execution = engine.store.get(arn);
  if (execution === undefined) throw new AwsError('ExecutionDoesNotExist', `Execution Does Not Exist: '${arn}'`);
  return execution;
}

function seconds(milliseconds: number): number {
  return milliseconds / 1000;
}
