import type { InputResponse, ToolEvent } from './contract.ts';
import { TaskEnded } from './errors.ts';
import type { Amount, Host } from './host.ts';
import { checked, type Memory, memoryText } from './memory.ts';
import type { AnswerOf, Question } from './questions.ts';

/** What a run is handed beside its arguments. The same in a task and in a direct call. */
export interface Task {
  /** Undefined in a direct call. */
  readonly id: string | undefined;
  /** 1, then +1 each time answers restart the work. */
  readonly round: number;
  /** 0, then +1 for each retry of a round. */
  readonly attempt: number;
  /** When the work is given up, in ms since the epoch; undefined in a direct call. */
  readonly deadline: number | undefined;
  /** Aborted soon after the task was cancelled, given up or superseded. Pass it on to whatever takes it. */
  readonly signal: AbortSignal;
  /** What the caller can be asked for, as in the contract. */
  readonly accepts: readonly string[];
  /** Shows how far the task is, at most once a second. Throws TaskEnded when the task is over. */
  progress(message: string, amount?: Amount): Promise<void>;
  /**
   * Asks the client and returns the answers, by the same keys. The run ends here and starts anew, from the top, when
   * all answers are there: so ask before what must happen only once, or do that in a `step`.
   */
  requireInput<Q extends Readonly<Record<string, Question<unknown>>>>(
    questions: Q,
  ): Promise<{ [K in keyof Q]: AnswerOf<Q[K]> }>;
  /** Survives rounds, and retries once a step has finished after it. At most 100 KB in all, depth 10, strings of 64 KB. */
  setVariable(name: string, value: unknown): void;
  getVariable<T = unknown>(name: string): T | undefined;
  /**
   * Does something once: what it returned is remembered across rounds and retries, and a later run gets it from there.
   * A step that throws is not remembered.
   */
  step<T>(name: string, work: () => T | Promise<T>): Promise<T>;
}

/** Thrown to end a round; never seen by a run that does not catch everything. */
export class RoundEnd extends Error {
  readonly questions: Readonly<Record<string, Question<unknown>>>;

  constructor(questions: Readonly<Record<string, Question<unknown>>>) {
    super('The round ends here, until the client has answered: let this error pass');
    this.questions = questions;
  }
}

export function createTask(event: ToolEvent, memory: Memory, signal: AbortSignal, host: Host): Task {
  const { task } = event;
  const asked = new Map<string, number>();
  const goOn = (alive: boolean) => {
    if (!alive || signal.aborted) throw new TaskEnded();
  };
  return {
    id: task?.taskId,
    round: task?.round ?? 1,
    attempt: task?.attempt ?? 0,
    deadline: task?.deadline,
    signal,
    accepts: event.accepts,
    async progress(message, amount) {
      goOn(true);
      if (task !== undefined) goOn(await host.progress(task, message, amount ?? {}));
    },
    async requireInput(questions) {
      goOn(true);
      const names = Object.keys(questions).map((key) => [key, nameOf(key, asked)] as const);
      const open = names.filter(([, name]) => !Object.hasOwn(event.inputResponses, name));
      if (open.length > 0) {
        throw new RoundEnd(Object.fromEntries(open.map(([key, name]) => [name, questions[key] as Question<unknown>])));
      }
      const answers = names.map(([key, name]) => [key, event.inputResponses[name] as InputResponse] as const);
      return Object.fromEntries(answers) as never;
    },
    setVariable(name, value) {
      memory.variables[name] = checked(`Variable '${name}'`, value);
      memoryText(memory);
    },
    getVariable: (name) => memory.variables[name] as never,
    async step(name, work) {
      goOn(true);
      if (name in memory.steps) return memory.steps[name] as never;
      const result = await work();
      memory.steps[name] = checked(`Step '${name}'`, result);
      const text = memoryText(memory);
      if (task !== undefined) goOn(await host.remember(task, text));
      return memory.steps[name] as never;
    },
  };
}

/** The second time a run asks under the same key it means another question: each has a name of its own. */
function nameOf(key: string, asked: Map<string, number>): string {
  const times = (asked.get(key) ?? 0) + 1;
  asked.set(key, times);
  return times === 1 ? key : `${key}~${times}`;
}
