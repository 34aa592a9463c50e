import { type History, newHistory } from './history.ts';
import type { ClosedRecord } from './journal/records.ts';
import type { ExecutionSnapshot, ExecutionStatus, StatusChange } from './types.ts';

/** An execution as it is kept once it is closed, and no more than that: its texts and its events. */
export interface Execution {
  readonly arn: string;
  readonly name: string;
  readonly stateMachineArn: string;
  /** Order of StartExecution, for listing and paging. */
  readonly number: number;
  readonly startDate: number;
  history: History;
  status: ExecutionStatus;
  /** The text as it was sent; undefined once forgotten. */
  input?: string;
  output?: string;
  error?: string;
  cause?: string;
  stopDate?: number;
}

/**
 * All executions. The newest `keepClosed` closed ones (and never more than
 * 256 Mi characters of payload) are kept whole. Older ones lose input, output and history but keep name, status and
 * dates, because a name must stay taken: a restarted name would run a task twice. (AWS frees names 90 days after the
 * execution closed; here that is done at the next start.)
 */
export interface ExecutionStore {
  add(execution: Execution): void;
  get(arn: string): Execution | undefined;
  /** In order of start. */
  all(): Execution[];
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
    execution.history = newHistory(execution.history.transitions);
  };

  return {
    add: (execution) => void byArn.set(execution.arn, execution),
    get: (arn) => byArn.get(arn),
    all: () => [...byArn.values()].sort((a, b) => a.number - b.number),
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

export function snapshot({ arn, stateMachineArn, name, status, history }: Execution): ExecutionSnapshot {
  const { states, transitions } = history;
  return { arn, stateMachineArn, name, status, states: [...states], transitions };
}

export function statusChange(execution: Execution): StatusChange {
  const { arn, stateMachineArn, name, status, input = '{}', output, error, cause, startDate, stopDate } = execution;
  const change: StatusChange = { executionArn: arn, stateMachineArn, name, status, input, startDate };
  if (output !== undefined) change.output = output;
  if (error !== undefined) change.error = error;
  if (cause !== undefined) change.cause = cause;
  if (stopDate !== undefined) change.stopDate = stopDate;
  return change;
}

/** What is kept of a closed execution for the next process; nothing of one that runs. */
export function closedRecord(execution: Execution): ClosedRecord[] {
  const { number, arn, stateMachineArn, startDate, input, status, stopDate, output, error, cause, history } = execution;
  if (status === 'RUNNING' || stopDate === undefined) return [];
  const { transitions } = history;
  return [
    { execution: number, arn, stateMachineArn, startDate, input, status, stopDate, transitions, output, error, cause },
  ];
}

/** An execution that closed in a process before this one. */
export function closedExecution({ execution, transitions, ...record }: ClosedRecord): Execution {
  const { input, output, error, cause, ...rest } = record;
  return {
    ...rest,
    name: nameOf(record.arn),
    number: execution,
    history: newHistory(transitions),
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error }),
    ...(cause !== undefined && { cause }),
  };
}

/** The last part of an execution's ARN. */
export function nameOf(arn: string): string {
  return arn.slice(arn.lastIndexOf(':') + 1);
}
