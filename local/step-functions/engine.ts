import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { AwsError } from '../aws-error.ts';
import { createOperations, type ExecutionEngine, type Outcome } from './api/operations.ts';
import { tokenOperations } from './api/tokens.ts';
import { asStatesError, type StatesError } from './errors.ts';
import { createExecutionStore, type Execution, nameOf, snapshot, statusChange } from './executions.ts';
import { createRecorder, newHistory, type Recorder } from './history.ts';
import type { StartedRecord } from './journal/records.ts';
import { expressArn, isExpress, isExpressRun } from './machine/express.ts';
import { loadMachine, type Machine } from './machine/machine.ts';
import { refuse } from './place.ts';
import { createReplay, type PastCalls, type Replay } from './replay.ts';
import { restore } from './restore.ts';
import { runExecution } from './run.ts';
import { createTimers } from './timers.ts';
import { createTokens } from './tokens/tokens.ts';
import type {
  ClosedStatus,
  ExpressFate,
  Operation,
  StateMachineSpec,
  StatusChange,
  StepFunctions,
  StepFunctionsOptions,
} from './types.ts';

/** The parts of an execution that exist only while it runs. */
interface Live {
  readonly abort: AbortController;
  readonly replay: Replay;
  readonly history: Recorder;
  /** Resolves once it is closed. */
  over: Promise<void>;
}

const END_EVENTS: Record<ClosedStatus, string> = {
  SUCCEEDED: 'ExecutionSucceeded',
  FAILED: 'ExecutionFailed',
  TIMED_OUT: 'ExecutionTimedOut',
  ABORTED: 'ExecutionAborted',
};

const KEEP_CLOSED = 20_000;
/** The outcome of a lost execution. Only tests see it: AWS reports nothing. */
const LOST: Outcome = { error: 'Lost' };

/**
 * An embedded Step Functions that runs JSONata state machines. Throws a DefinitionError if a definition uses anything
 * it does not know. With a journal, the executions that ran when the last process ended continue.
 */
export function createStepFunctions(specs: StateMachineSpec[], options: StepFunctionsOptions): StepFunctions {
  const { now = Date.now, timeScale = 1, keepClosed = KEEP_CLOSED } = options;
  const integrations = new Map(Object.entries(options.integrations));
  const resources = new Set(integrations.keys());
  const machines = loadMachines(specs, resources);
  const timers = createTimers(timeScale, now);
  const store = createExecutionStore(keepClosed);
  const running = new Map<Execution, Live>();
  const tokens = createTokens();
  const restored = restore(options, store, now());
  const { journal } = restored;
  let lastNumber = store.all().at(-1)?.number ?? 0;
  let stopped = false;

  // The first of result, timeout, StopExecution and stop() closes the execution. Later ones change nothing.
  const close = (execution: Execution, status: ClosedStatus, outcome: Outcome) => {
    if (execution.status !== 'RUNNING') return;
    const stopDate = now();
    const { number, history } = execution;
    const live = running.get(execution);
    const express = isExpressRun(execution);
    if (!express) journal?.ended({ execution: number, status, stopDate, transitions: history.transitions, ...outcome });
    Object.assign(execution, outcome, { status, stopDate });
    const { error, cause } = outcome;
    live?.history.end(END_EVENTS[status], stopDate, { ...(error && { error }), ...(cause && { cause }) });
    live?.abort.abort(new Error(`the execution is closed: ${status}`));
    running.delete(execution);
    store.closed(execution);
    if (!stopped && !express) announce(options.onStatusChange, execution);
  };

  const begin = (started: StartedRecord, spec: StateMachineSpec, past?: PastCalls) => {
    const { execution: number, arn, startDate, input, seed } = started;
    const abort = new AbortController();
    const kept = isExpress(spec) ? undefined : journal;
    const context = { execution: number, seed, since: startDate, timers, now, journal: kept, tokens, abort, past };
    const replay = createReplay(context);
    const history = newHistory();
    const recorder = createRecorder(history, replay.now);
    recorder.add('ExecutionStarted', 0, { roleArn: spec.roleArn });
    const machine = { stateMachineArn: spec.arn, name: nameOf(arn) };
    const execution: Execution = { arn, ...machine, number, startDate, history, status: 'RUNNING', input };
    store.add(execution);
    lastNumber = Math.max(lastNumber, number);
    const live: Live = { abort, replay, history: recorder, over: Promise.resolve() };
    running.set(execution, live);
    return { execution, live };
  };

  const run = async (execution: Execution, machine: Machine, { abort, replay, history }: Live) => {
    const { timeoutSeconds = Number.POSITIVE_INFINITY } = machine;
    const timeOut = () => close(execution, 'TIMED_OUT', { error: 'States.Timeout' });
    replay.sleep('', timeoutSeconds * 1000, abort.signal).then(timeOut, () => undefined);
    try {
      const output = await runExecution(execution, machine, { integrations, replay, history }, abort.signal);
      close(execution, 'SUCCEEDED', { output });
    } catch (thrown) {
      close(execution, 'FAILED', failure(asStatesError(thrown)));
    }
  };

  const startExpress: ExecutionEngine['start'] = (machine, name, input) => {
    const { id, spec, executionPrefix } = machine;
    const beginOne = () => {
      const arn = expressArn(executionPrefix, name);
      const started = { execution: lastNumber + 1, machine: id, arn, startDate: now(), input, seed: randomUUID() };
      return begin(started, spec);
    };
    const { execution, live } = beginOne();
    const go = async (fate: ExpressFate = 'once') => {
      if (stopped) return;
      if (fate === 'lost') return close(execution, 'ABORTED', LOST);
      const runAgain = (afterMs: number) => {
        const { execution: other, live: its } = beginOne();
        const wait = afterMs > 0 ? sleep(afterMs, undefined, { signal: its.abort.signal, ref: false }) : undefined;
        its.over = Promise.resolve(wait).then(
          () => run(other, machine, its),
          () => undefined,
        );
      };
      if (fate === 'twice') runAgain(0);
      else if (typeof fate === 'object' && 'againAfterMs' in fate) runAgain(fate.againAfterMs);
      else if (typeof fate === 'object') void fate.lostAfter.then(() => close(execution, 'ABORTED', LOST));
      return run(execution, machine, live);
    };
    const fate = options.expressFate?.({ stateMachineArn: spec.arn, roleArn: spec.roleArn, name });
    live.over = Promise.resolve(fate).then(go);
    return execution;
  };

  const start: ExecutionEngine['start'] = (machine, name, input) => {
    if (isExpress(machine.spec)) return startExpress(machine, name, input);
    const arn = `${machine.executionPrefix}${name}`;
    const number = { execution: lastNumber + 1, machine: machine.id };
    const started = { ...number, arn, startDate: now(), input, seed: randomUUID() };
    journal?.started(started, machine.spec);
    const { execution, live } = begin(started, machine.spec);
    live.over = run(execution, machine, live);
    announce(options.onStatusChange, execution);
    return execution;
  };

  // An execution keeps the definition with which it started.
  const loaded = new Map([...machines.values()].map((machine) => [machine.id, machine]));
  for (const { spec, started, ...past } of restored.running) {
    const { execution, live } = begin(started, spec, past);
    // AWS ends the executions of a deleted machine at their next state (docs: "DeleteStateMachine"), in this way (AWS
    // Knowledge Center: "step-functions-stuck-deleting-status"). This engine does not wait for that state.
    if (!machines.has(spec.arn)) {
      close(execution, 'FAILED', { error: 'States.Runtime', cause: `State machine ${spec.name} has been deleted.` });
      continue;
    }
    try {
      const machine = loaded.get(started.machine) ?? loadMachine(spec, resources);
      loaded.set(started.machine, machine);
      live.over = run(execution, machine, live);
    } catch (thrown) {
      close(execution, 'FAILED', failure(asStatesError(thrown)));
    }
  }

  const abort: ExecutionEngine['abort'] = (execution, reason) => close(execution, 'ABORTED', reason);
  const caughtUp = (arn: string) => {
    const execution = store.get(arn);
    return execution && (running.get(execution)?.replay.caughtUp ?? Promise.resolve());
  };
  const operations = {
    ...createOperations({ machines, store, now, start, abort }),
    ...tokenOperations(tokens, caughtUp),
  };
  const unlessStopped = (operation: Operation): Operation => {
    // Callers must not see an execution or a task as ended if it continues at the next start.
    const unavailable = () => new AwsError('ServiceUnavailable', 'Step Functions is stopped', 503);
    return async (request) => {
      if (stopped) throw unavailable();
      return operation(request).catch((error: unknown) => {
        throw stopped ? unavailable() : error;
      });
    };
  };
  return {
    operations: Object.fromEntries(Object.entries(operations).map(([name, run]) => [name, unlessStopped(run)])),
    executions: () => store.all().map(snapshot),
    async closed(arn) {
      const execution = store.get(arn);
      if (execution !== undefined) await running.get(execution)?.over;
    },
    async stop() {
      stopped = true;
      journal?.close();
      const ending = [...running.values()].map(({ over }) => over);
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

function failure({ error, detail }: StatesError): Outcome {
  return { ...(error && { error }), ...(detail && { cause: detail }) };
}

/** Reports a change of status. A listener that fails does not affect the execution. */
function announce(listener: ((change: StatusChange) => unknown) | undefined, execution: Execution): void {
  const report = async () => listener?.(statusChange(execution));
  report().catch((thrown: unknown) => process.emitWarning(`onStatusChange failed: ${String(thrown)}`));
}
