import type { SFNClient } from '@aws-sdk/client-sfn';
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
import { type Execution, Executions, MACHINES, refusal } from '../../../support/engine/executions.ts';
import type { Agenda } from './agenda.ts';
import { memoize } from './memo.ts';
import type { Process } from './process.ts';

/** The embedded cloud's Step Functions in the time of a run: the same interpreter, the same expressions. */
export interface StepFunctions {
  client(process: Process): Pick<SFNClient, 'send'>;
  get(arn: string): Execution | undefined;
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

const loaded = new Map<string, Machine>();

/** A tool workflow, by its definition; compiled once per process. */
export function machineOf(name: string, definition: string): Machine {
  const key = `${name} ${definition}`;
  const known = loaded.get(key);
  if (known !== undefined) return known;
  const resources = new Set(['arn:aws:states:::lambda:invoke', 'arn:aws:states:::dynamodb:updateItem']);
  const arn = `${MACHINES}${name}`;
  const machine = loadMachine(
    { arn, name: `S-${name}`, roleArn: 'arn:aws:iam::111111111111:role/r', definition },
    resources,
  );
  memoize(definition);
  loaded.set(key, machine);
  return machine;
}

export function createStepFunctions(parts: StepFunctionsParts, agenda: Agenda): StepFunctions {
  const { machines, integrations, namesAreUnique, started, stopping } = parts;
  const aborts = new Map<Execution, AbortController>();
  const executions = new Executions(agenda.now, {
    namesAreUnique,
    stopping,
    starting(machineArn) {
      if (!machines.has(machineArn)) throw refusal('StateMachineDoesNotExist');
    },
    started(execution, machineArn) {
      const abort = new AbortController();
      aborts.set(execution, abort);
      started(execution);
      void run(execution, machines.get(machineArn) as Machine, abort);
    },
    ended(execution) {
      aborts.get(execution)?.abort(new Error('The execution is closed'));
      parts.ended(execution);
    },
  });
  const run = async (execution: Execution, machine: Machine, abort: AbortController) => {
    const replay = replayOf(execution.name, agenda);
    const history = createRecorder(newHistory(), agenda.now);
    try {
      await runExecution(execution, machine, { integrations, replay, history }, abort.signal);
      executions.close(execution, 'SUCCEEDED');
    } catch (thrown) {
      executions.close(execution, 'FAILED', asStatesError(thrown).error);
    }
  };

  return {
    client: (process) => executions.client((what, carryOut) => process.call(what, carryOut)),
    get: (arn) => executions.get(arn),
    fail(arn, error) {
      const execution = executions.get(arn);
      if (execution !== undefined) executions.close(execution, 'FAILED', error);
    },
  };
}

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
    callback: () => Promise.reject(new Error('no machine of the model waits for a token')),
    caughtUp: Promise.resolve(),
  };
}
