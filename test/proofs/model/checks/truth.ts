import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import type { Signal } from '../../../../functions/tasks/tool-contract.ts';
import type { StoredSignal } from '../../../../functions/tasks/waits/signals.ts';
import type { Ran } from '../simulation/tools.ts';

/** What has really happened to a task, beside what its record says. */
export interface TaskTruth {
  record: TaskRecord;
  /** What it has been, in the order of all that is sent and written. */
  readonly history: { readonly order: number; readonly record: TaskRecord }[];
  /** When a client first got its id. */
  accepted?: number;
  /** A call was answered with it. */
  promised: boolean;
  /** A client has asked for its cancellation. */
  cancelAsked: boolean;
  /** A client has refused to answer. */
  refused: boolean;
  /** How many calls wanted to start its first round. */
  starters: number;
  /** A call that wanted to start its first round was answered that this failed, or not answered. */
  startFailed: boolean;
  /** It was changed by a write that was on its way when readers began to see that it had failed. */
  overtaken: boolean;
  readonly rounds: Map<number, RoundTruth>;
  /** By name: what its runs have stored of their waits. */
  readonly waits: Map<string, WaitTruth>;
  /** The link or webhook that a run has found to come first. */
  first?: string;
}

export interface WaitTruth {
  readonly kind: 'time' | 'link' | 'webhook';
  /** In ms since the epoch. */
  readonly until: number;
  /** What was sent to its URL, or by operators. */
  readonly sent: Sent[];
  /** The signal that counts. */
  stored?: StoredSignal;
}

export type Sent = Omit<Extract<Signal, { at: number }>, 'at'>;

export interface RoundTruth {
  executions: number;
  /** How often the tool has begun. */
  begun: number;
  readonly ran: Ran[];
  /** What invocations of the tool have failed with. */
  readonly failures: string[];
}

export interface Truth {
  readonly tasks: Map<string, TaskTruth>;
  task(taskId: string): TaskTruth | undefined;
  round(taskId: string, round: number): RoundTruth | undefined;
  /** The first thing that must not happen, if it has. */
  violation(): string | undefined;
  violated(what: string): void;
  /** Since when nothing goes wrong any more, in ms since the epoch. */
  calmSince?: number;
}

export function createTruth(trace: (line: string) => void): Truth {
  const tasks = new Map<string, TaskTruth>();
  let first: string | undefined;
  return {
    tasks,
    task: (taskId) => tasks.get(taskId),
    round(taskId, round) {
      const task = tasks.get(taskId);
      if (task === undefined) return undefined;
      const known = task.rounds.get(round) ?? { executions: 0, begun: 0, ran: [], failures: [] };
      task.rounds.set(round, known);
      return known;
    },
    violation: () => first,
    violated(what) {
      trace(`!! ${what}`);
      first ??= what;
    },
  };
}
