import type { Machine } from './definition/machine.ts';
import type { Journal } from './journal.ts';
import type { ExecutionSnapshot, ExecutionStatus, StatusChange } from './types.ts';

export interface Execution {
  readonly arn: string;
  readonly name: string;
  readonly machine: Machine;
  /** Order of StartExecution, for listing and paging. */
  readonly number: number;
  readonly startDate: number;
  readonly journal: Journal;
  readonly abort: AbortController;
  status: ExecutionStatus;
  /** The text as it was sent; undefined once forgotten. */
  input?: string;
  output?: string;
  error?: string;
  cause?: string;
  stopDate?: number;
}

/**
 * All executions of the process, in order of start. The newest `keepClosed` closed ones (and never more than
 * 256 Mi characters of payload) are kept whole. Older ones lose input, output and history but keep name, status and
 * dates for the process's life, because a name must stay taken: a restarted name would run a task twice. (AWS frees
 * names 90 days after the execution closed.)
 */
export interface ExecutionStore {
  add(execution: Execution): void;
  get(arn: string): Execution | undefined;
  all(): Execution[];
  size(): number;
  /** Counts a closed execution against what is kept. */
  closed(execution: Execution): void;
}

const KEPT_CHARACTERS = 256 * 2 ** 20;

export function createExecutionStore(keepClosed: number): ExecutionStore {
  const byArn = new Map<string, Execution>();
  const kept = new Set<Execution>();
  let characters = 0;

  const forget = (execution: Execution) => {
    kept.delete(execution);
    characters -= size(execution);
    delete execution.input;
    delete execution.output;
    execution.journal.forget();
  };

  return {
    add: (execution) => void byArn.set(execution.arn, execution),
    get: (arn) => byArn.get(arn),
    all: () => [...byArn.values()],
    size: () => byArn.size,
    closed(execution) {
      kept.add(execution);
      characters += size(execution);
      for (const oldest of kept) {
        if (kept.size <= keepClosed && characters <= KEPT_CHARACTERS) break;
        forget(oldest);
      }
    },
  };
}

function size({ input = '', output = '' }: Execution): number {
  return input.length + output.length;
}

export function snapshot({ arn, machine, name, status, journal }: Execution): ExecutionSnapshot {
  const { states, transitions } = journal;
  return { arn, stateMachineArn: machine.spec.arn, name, status, states: [...states], transitions };
}

export function statusChange(execution: Execution): StatusChange {
  const { arn, machine, name, status, input = '{}', output, error, cause, startDate, stopDate } = execution;
  const change: StatusChange = { executionArn: arn, stateMachineArn: machine.spec.arn, name, status, input, startDate };
  if (output !== undefined) change.output = output;
  if (error !== undefined) change.error = error;
  if (cause !== undefined) change.cause = cause;
  if (stopDate !== undefined) change.stopDate = stopDate;
  return change;
}
