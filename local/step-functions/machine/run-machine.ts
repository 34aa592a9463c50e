import { isObject, listOf } from '../../json.ts';
import { integrationName } from '../definition/resource.ts';
import { asStatesError, StatesError } from '../errors.ts';
import { createRecorder, newHistory } from '../history.ts';
import type { Answer } from '../journal/records.ts';
import { createRandom } from '../random.ts';
import type { Replay } from '../replay.ts';
import { runExecution } from '../run.ts';
import type { Integration } from '../types.ts';
import { loadMachine } from './machine.ts';

/** A call that a task of the machine made. */
export interface MadeCall {
  readonly state: string;
  readonly resource: string;
  readonly arguments: unknown;
}

export interface RunMachineOptions {
  /** Answers for a call. Throws what the task fails with: the name of the error is the name that Retry and Catch see. */
  readonly answer: (call: MadeCall) => unknown;
  /** When it starts, in milliseconds since the epoch. */
  readonly now: number;
}

export interface MachineRun {
  readonly output?: unknown;
  /** How it failed. */
  readonly failure?: { readonly error: string; readonly cause: string };
  /** The names of the states that it entered, in order. */
  readonly states: readonly string[];
  /** When it ended, in milliseconds since the epoch. */
  readonly endedAt: number;
}

const ARN = 'arn:aws:states:us-east-1:000000000000:';

/**
 * Runs a definition in memory. Waits and retry delays take no time: the clock jumps to the next one once no call is under way.
 *
 * @param definition Amazon States Language with JSONata
 * @throws DefinitionError for a definition that the embedded Step Functions does not know
 */
export async function runMachine(
  definition: object,
  input: unknown,
  { answer, now }: RunMachineOptions,
): Promise<MachineRun> {
  const place = { arn: `${ARN}stateMachine:test`, name: 'test', roleArn: 'arn:aws:iam::000000000000:role/test' };
  const resources = new Set(resourcesIn(definition).map(integrationName));
  const machine = loadMachine({ ...place, definition: JSON.stringify(definition) }, resources);
  const history = newHistory();
  const clock = jumpingClock(now);
  let calling = '';
  const integration: Integration = async (call) => {
    const made = { state: calling, resource: call.resource, arguments: call.arguments };
    try {
      return await answer(made);
    } catch (thrown) {
      if (thrown instanceof StatesError || !(thrown instanceof Error) || thrown.name === 'Error') throw thrown;
      throw new StatesError(thrown.name, thrown.message);
    }
  };
  const integrations = new Map([...resources].map((name) => [name.replace(/^arn:[^:]*/, 'arn:aws'), integration]));
  const replay = replayOf(clock, (state) => {
    calling = state;
  });
  const execution = { arn: `${ARN}execution:test:test`, name: 'test', startDate: now, input: JSON.stringify(input) };
  const over = new AbortController();
  const ended = () => ({ states: history.states, endedAt: clock.now() });
  const { timeoutSeconds } = machine;
  if (timeoutSeconds !== undefined) {
    clock.at(timeoutSeconds * 1000, () => over.abort(new StatesError('States.Timeout')));
  }
  try {
    const shared = { integrations, replay, history: createRecorder(history, clock.now) };
    return { output: JSON.parse(await runExecution(execution, machine, shared, over.signal)), ...ended() };
  } catch (thrown) {
    const { error, detail } = asStatesError(thrown);
    return { failure: { error, cause: detail }, ...ended() };
  } finally {
    clock.stop();
  }
}

function resourcesIn(definition: unknown): string[] {
  if (Array.isArray(definition)) return definition.flatMap(resourcesIn);
  if (!isObject(definition)) return [];
  const { Type, Resource, States, ItemProcessor, Branches } = definition;
  const own = Type === 'Task' && typeof Resource === 'string' ? [Resource] : [];
  const states = isObject(States) ? Object.values(States) : [];
  return [...own, ...states.flatMap(resourcesIn), ...resourcesIn(ItemProcessor), ...resourcesIn(listOf(Branches))];
}

type JumpingClock = ReturnType<typeof jumpingClock>;

/** A clock that stands still while something is under way, and then jumps to the next time that is awaited. */
function jumpingClock(start: number) {
  const awaited = new Set<{ readonly at: number; readonly callback: () => void }>();
  let time = start;
  let busy = 0;
  let turn: NodeJS.Immediate | undefined;
  const settle = () => {
    clearImmediate(turn);
    turn = setImmediate(() => {
      const [next] = [...awaited].sort((a, b) => a.at - b.at);
      if (busy > 0 || next === undefined) return;
      awaited.delete(next);
      time = Math.max(time, next.at);
      next.callback();
      settle();
    });
  };
  return {
    now: () => time,
    /** Calls back after a time; never after Infinity. Returns a function that cancels it. */
    at(milliseconds: number, callback: () => void): () => void {
      const entry = { at: time + milliseconds, callback };
      if (Number.isFinite(entry.at)) awaited.add(entry);
      settle();
      return () => void awaited.delete(entry);
    },
    /** Holds the clock while a call is under way. */
    async during<T>(work: Promise<T>): Promise<T> {
      busy += 1;
      try {
        return await work;
      } finally {
        busy -= 1;
        settle();
      }
    },
    stop(): void {
      awaited.clear();
      clearImmediate(turn);
    },
  };
}

/** Answers at once, and takes the answer of a call as the answer for its token. */
function replayOf(clock: JumpingClock, calls: (state: string) => void): Replay {
  const tokens = new Map<string, PromiseWithResolvers<Answer>>();
  const unlessAborted = async <T>(signal: AbortSignal, answer: Promise<T>): Promise<T> => {
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      return await Promise.race([answer, aborted.promise]);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  };
  return {
    now: clock.now,
    random: createRandom('test'),
    begin: async () => undefined,
    sleep: (_state, milliseconds, signal) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const cancel = clock.at(milliseconds, resolve);
      return unlessAborted(signal, promise).finally(cancel);
    },
    async call(state, _milliseconds, signal, make) {
      signal.throwIfAborted();
      const token = tokens.get(state);
      tokens.delete(state);
      calls(state);
      const made = make({ signal, lost: false, begins: () => undefined }).catch((thrown: unknown) => {
        const { error, detail } = asStatesError(thrown, 'States.TaskFailed');
        return { error, cause: detail };
      });
      const answer = await unlessAborted(signal, clock.during(made));
      token?.resolve(answer);
      return answer;
    },
    callback(state, _token, _times, signal) {
      const answered = Promise.withResolvers<Answer>();
      tokens.set(state, answered);
      return unlessAborted(signal, answered.promise);
    },
    caughtUp: Promise.resolve(),
  };
}
