import { AwsError } from '../aws-error.ts';
import { loadMachine, type Machine } from './definition/machine.ts';
import { refuse } from './definition/place.ts';
import { asStatesError, type StatesError } from './errors.ts';
import { createExecutionStore, type Execution, type ExecutionStore, snapshot, statusChange } from './executions.ts';
import { createJournal } from './journal.ts';
import { createOperations } from './operations.ts';
import { type Machinery, runExecution } from './run.ts';
import { createTimers } from './timers.ts';
import type { ExecutionStatus, StateMachineSpec, StatusChange, StepFunctions, StepFunctionsOptions } from './types.ts';

/** What the operations need of the engine. */
export interface Engine {
  readonly machines: ReadonlyMap<string, Machine>;
  readonly store: ExecutionStore;
  /** When the machines were loaded. */
  readonly created: number;
  now(): number;
  /** Registers the execution at once, runs its first state later. */
  start(machine: Machine, name: string, input: string): Execution;
  /** Ends a running execution as ABORTED; a closed one stays as it is. */
  abort(execution: Execution, reason: Outcome): void;
}

interface Outcome {
  output?: string;
  error?: string;
  cause?: string;
}

type ClosedStatus = Exclude<ExecutionStatus, 'RUNNING'>;

const END_EVENTS: Record<ClosedStatus, string> = {
  SUCCEEDED: 'ExecutionSucceeded',
  FAILED: 'ExecutionFailed',
  TIMED_OUT: 'ExecutionTimedOut',
  ABORTED: 'ExecutionAborted',
};

const KEEP_CLOSED = 20_000;

/**
 * An embedded Step Functions that runs JSONata state machines. Throws a DefinitionError for a definition that uses
 * anything it does not know.
 */
export function createStepFunctions(specs: StateMachineSpec[], options: StepFunctionsOptions): StepFunctions {
  const { now = Date.now, timeScale = 1, keepClosed = KEEP_CLOSED } = options;
  const integrations = new Map(Object.entries(options.integrations));
  const machines = loadMachines(specs, new Set(integrations.keys()));
  const machinery: Machinery = { integrations, timers: createTimers(timeScale), now };
  const store = createExecutionStore(keepClosed);
  const running = new Map<Execution, Promise<void>>();
  let stopped = false;

  // The first to close wins: a result, a timeout, StopExecution or stop(); whatever comes later finds it closed.
  const close = (execution: Execution, status: ClosedStatus, outcome: Outcome) => {
    if (execution.status !== 'RUNNING') return;
    Object.assign(execution, outcome, { status, stopDate: now() });
    const { error, cause } = outcome;
    execution.journal.end(END_EVENTS[status], { ...(error && { error }), ...(cause && { cause }) });
    execution.abort.abort(new Error(`the execution is closed: ${status}`));
    running.delete(execution);
    store.closed(execution);
    if (!stopped) announce(options.onStatusChange, execution);
  };

  const run = async (execution: Execution) => {
    const { timeoutSeconds = Number.POSITIVE_INFINITY } = execution.machine;
    const timeOut = () => close(execution, 'TIMED_OUT', { error: 'States.Timeout' });
    const cancelTimeout = machinery.timers.after(timeoutSeconds * 1000, timeOut);
    try {
      close(execution, 'SUCCEEDED', { output: await runExecution(execution, machinery) });
    } catch (thrown) {
      close(execution, 'FAILED', failure(asStatesError(thrown)));
    } finally {
      cancelTimeout();
    }
  };

  const start: Engine['start'] = (machine, name, input) => {
    if (stopped) throw new AwsError('ServiceUnavailable', 'Step Functions is stopped', 503);
    const execution = createExecution(machine, name, input, store.size(), now);
    store.add(execution);
    running.set(execution, run(execution));
    announce(options.onStatusChange, execution);
    return execution;
  };

  const abort: Engine['abort'] = (execution, reason) => close(execution, 'ABORTED', reason);

  return {
    operations: createOperations({ machines, store, created: now(), now, start, abort }),
    executions: () => store.all().map(snapshot),
    async closed(arn) {
      const execution = store.get(arn);
      if (execution !== undefined) await running.get(execution);
    },
    async stop() {
      stopped = true;
      const ending = [...running.values()];
      for (const execution of [...running.keys()]) close(execution, 'ABORTED', {});
      await Promise.all(ending);
    },
  };
}

function loadMachines(specs: StateMachineSpec[], resources: ReadonlySet<string>): Map<string, Machine> {
  const machines = new Map<string, Machine>();
  for (const spec of specs) {
    if (machines.has(spec.arn)) refuse({ machine: spec.name }, `there is another machine with the ARN '${spec.arn}'`);
    machines.set(spec.arn, loadMachine(spec, resources));
  }
  return machines;
}

function createExecution(machine: Machine, name: string, input: string, number: number, now: () => number): Execution {
  const journal = createJournal(now);
  journal.add('ExecutionStarted', 0, { roleArn: machine.spec.roleArn });
  return {
    arn: `${machine.executionPrefix}${name}`,
    name,
    machine,
    number,
    startDate: now(),
    journal,
    abort: new AbortController(),
    status: 'RUNNING',
    input,
  };
}

function failure({ error, cause_ }: StatesError): Outcome {
  return { ...(error && { error }), ...(cause_ && { cause: cause_ }) };
}

/** A listener that fails is the listener's trouble, not the execution's. */
function announce(listener: ((change: StatusChange) => unknown) | undefined, execution: Execution): void {
  const tell = async () => listener?.(statusChange(execution));
  tell().catch((thrown: unknown) => process.emitWarning(`onStatusChange failed: ${String(thrown)}`));
}
