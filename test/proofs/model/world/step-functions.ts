import type { SFNClient } from '@aws-sdk/client-sfn';
import type { Run } from '../../../../functions/reconciler/outcome.ts';
import {
  type Answer,
  asStatesError,
  createRecorder,
  type Integration,
  loadMachine,
  type Machine,
  newHistory,
  type Replay,
  runExecution,
} from '../../../../local/testing.ts';
import { fakeClient } from '../../../support/aws-client.ts';
import type { Agenda } from './agenda.ts';
import { memoize } from './memo.ts';
import type { Process } from './process.ts';

export interface Execution {
  readonly arn: string;
  readonly name: string;
  readonly input: string;
  readonly startDate: number;
  status: Exclude<Run['status'], 'missing'>;
  error?: string | undefined;
  stopDate?: number;
}

/** The embedded cloud's Step Functions in the time of a run: the same interpreter, the same expressions. */
export interface StepFunctions {
  client(process: Process): Pick<SFNClient, 'send'>;
  get(arn: string): Execution | undefined;
  executions(): Iterable<Execution>;
  /** Ends a running execution in a way that no state can catch. */
  fail(arn: string, error: string): void;
}

export interface StepFunctionsParts {
  readonly machines: ReadonlyMap<string, Machine>;
  readonly integrations: ReadonlyMap<string, Integration>;
  /** False: the seeded bug of a name that does not stand for an execution. */
  readonly namesAreUnique: boolean;
  readonly started: (execution: Execution) => void;
  readonly stopping: (execution: Execution) => void;
  readonly ended: (execution: Execution) => void;
}

export const MACHINE_PREFIX = 'arn:aws:states:eu-west-1:111111111111:stateMachine:S-';
/** How far behind StartExecution and StopExecution what DescribeExecution says may be. */
const BEHIND = 5_000;

const loaded = new Map<string, Machine>();

/** A tool workflow, by its definition; compiled once per process. */
export function machineOf(name: string, definition: string): Machine {
  const key = `${name} ${definition}`;
  const known = loaded.get(key);
  if (known !== undefined) return known;
  const resources = new Set(['arn:aws:states:::lambda:invoke', 'arn:aws:states:::dynamodb:updateItem']);
  const arn = `${MACHINE_PREFIX}${name}`;
  const machine = loadMachine(
    { arn, name: `S-${name}`, roleArn: 'arn:aws:iam::111111111111:role/r', definition },
    resources,
  );
  memoize(definition);
  loaded.set(key, machine);
  return machine;
}

export function createStepFunctions(parts: StepFunctionsParts, agenda: Agenda): StepFunctions {
  const { machines, integrations, namesAreUnique } = parts;
  const executions = new Map<string, Execution>();
  const aborts = new Map<Execution, AbortController>();

  const close = (execution: Execution, status: Execution['status'], error?: string) => {
    if (execution.status !== 'RUNNING') return;
    Object.assign(execution, { status, error, stopDate: agenda.now() });
    aborts.get(execution)?.abort(new Error('The execution is closed'));
    parts.ended(execution);
  };
  const run = async (execution: Execution, machine: Machine, abort: AbortController) => {
    const replay = replayOf(execution.name, agenda);
    const history = createRecorder(newHistory(), agenda.now);
    try {
      await runExecution(execution, machine, { integrations, replay, history }, abort.signal);
      close(execution, 'SUCCEEDED');
    } catch (thrown) {
      close(execution, 'FAILED', asStatesError(thrown).error);
    }
  };
  const start = (machineArn: string, name: string, input: string): Execution => {
    const machine = machines.get(machineArn);
    if (machine === undefined) throw refusal('StateMachineDoesNotExist');
    const arn = machine.executionPrefix + name;
    const twin = executions.get(arn);
    if (twin !== undefined && namesAreUnique) {
      if (twin.status === 'RUNNING' && twin.input === input) return twin;
      throw refusal('ExecutionAlreadyExists');
    }
    const execution: Execution = { arn, name, input, startDate: agenda.now(), status: 'RUNNING' };
    const abort = new AbortController();
    executions.set(twin === undefined ? arn : `${arn}#${executions.size}`, execution);
    aborts.set(execution, abort);
    parts.started(execution);
    void run(execution, machine, abort);
    return execution;
  };
  const find = (arn: string, stale: boolean): Execution => {
    const execution = executions.get(arn);
    if (execution === undefined || (stale && agenda.now() - execution.startDate < BEHIND)) {
      throw refusal('ExecutionDoesNotExist');
    }
    return execution;
  };

  type Input = Readonly<Record<string, string>>;
  const send = (process: Process, operation: string, sent: Input): Promise<Readonly<Record<string, unknown>>> => {
    const { executionArn = '' } = sent;
    if (operation === 'StartExecution') {
      const { stateMachineArn = '', name = '', input = '{}' } = sent;
      return process.call(`start ${roundIn(name)}`, () => ({ executionArn: start(stateMachineArn, name, input).arn }));
    }
    if (operation === 'StopExecution') {
      return process.call(`stop ${nameOf(executionArn)}`, (stale) => {
        const execution = find(executionArn, stale);
        if (execution.status === 'RUNNING') parts.stopping(execution);
        close(execution, 'ABORTED');
        return {};
      });
    }
    if (operation === 'DescribeExecution') {
      return process.call(`describe ${nameOf(executionArn)}`, (stale) => {
        const { stopDate, error, status, ...rest } = find(executionArn, stale);
        if (stale && stopDate !== undefined && agenda.now() - stopDate < BEHIND) return { ...rest, status: 'RUNNING' };
        return { ...rest, status, ...(error !== undefined && { error }) };
      });
    }
    throw new Error(`The model's Step Functions knows no ${operation}`);
  };

  return {
    client: (process) => fakeClient((operation, input) => send(process, operation, input as Input)),
    get: (arn) => executions.get(arn),
    executions: () => executions.values(),
    fail(arn, error) {
      const execution = executions.get(arn);
      if (execution !== undefined) close(execution, 'FAILED', error);
    },
  };
}

/** Of the first attempt. */
const refusal = (name: string): Error => Object.assign(new Error(name), { name, $metadata: {} });

/** `<taskId>-r<round>` as `r<round> of <taskId>`. */
const roundIn = (name: string): string => name.replace(/^(.*)-(r\d+)$/, '$2 of $1');
const nameOf = (arn: string): string => arn.slice(arn.lastIndexOf(':') + 1);

/** Time and results for an execution, in the time of the run. Its retries wait half of what they may, in whole seconds. */
function replayOf(name: string, agenda: Agenda): Replay {
  const later = (ms: number, callback: () => void) =>
    ms === Number.POSITIVE_INFINITY ? () => {} : agenda.at(agenda.now() + Math.ceil(ms / 1_000) * 1_000, callback);
  const until = <T>(signal: AbortSignal, begin: (resolve: (value: T) => void) => () => void): Promise<T> => {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const end = begin((value) => {
      signal.removeEventListener('abort', abort);
      resolve(value);
    });
    const abort = () => {
      end();
      reject(signal.reason);
    };
    signal.addEventListener('abort', abort, { once: true });
    return promise;
  };
  return {
    now: agenda.now,
    random: { number: () => 0.5, uuid: () => name },
    begin: () => new Promise((resolve) => agenda.add({ label: `${name} begins`, act: () => resolve() })),
    sleep: (_state, ms, signal) => until(signal, (resolve) => later(ms, () => resolve())),
    call: (_state, ms, signal, make) =>
      until<Answer>(signal, (resolve) => {
        const attempt = new AbortController();
        const cancel = later(ms, () => {
          attempt.abort();
          resolve({ error: 'States.Timeout', cause: '' });
        });
        make({ signal: attempt.signal, lost: false, begins() {} })
          .catch((thrown: unknown) => {
            const { error, detail } = asStatesError(thrown, 'States.TaskFailed');
            return { error, cause: detail };
          })
          .then((answer) => {
            cancel();
            resolve(answer);
          });
        return () => {
          cancel();
          attempt.abort();
        };
      }),
  };
}
