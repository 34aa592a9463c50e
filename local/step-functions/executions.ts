import { type History, newHistory } from './history.ts';
import type { ClosedRecord } from './journal/records.ts';
import { isExpressRun } from './machine/express.ts';
import type { ExecutionSnapshot, ExecutionStatus, StatusChange } from './types.ts';

/** The part of an execution that is kept after it has closed: its texts and its events. */
export interface Execution {
  readonly arn: string;
  readonly name: string;
  readonly stateMachineArn: string;
  /** Order of StartExecution, for listing and paging. */
  readonly number: number;
  readonly startDate: number;
  history: History;
  status: ExecutionStatus;
  /** The text as sent; undefined once dropped. */
  input?: string | undefined;
  output?: string | undefined;
  error?: string | undefined;
  cause?: string | undefined;
  stopDate?: number;
}

export type ExecutionStore = ReturnType<typeof createExecutionStore>;

const KEPT_CHARACTERS = 256 * 2 ** 20;

/**
 * Keeps all executions. The newest `keepClosed` closed ones are kept whole, up to 256 Mi characters of payload. Older ones
 * lose input, output and history. They keep name, status and dates, because a name must stay taken: a name that starts
 * again would run a task twice. (AWS frees names 90 days after the execution has closed, this engine at the next start
 * after that.) Older Express executions are forgotten: their names are free anyway.
 */
export function createExecutionStore(keepClosed: number) {
  const byArn = new Map<string, Execution>();
  const kept = new Set<Execution>();
  let characters = 0;

  const forget = (execution: Execution) => {
    kept.delete(execution);
    characters -= size(execution);
    delete execution.input;
    delete execution.output;
    execution.history = newHistory(execution.history.transitions);
    if (isExpressRun(execution)) byArn.delete(execution.arn);
  };

  return {
    add: (execution: Execution) => void byArn.set(execution.arn, execution),
    get: (arn: string) => byArn.get(arn),
    /** All executions, in order of start. */
    all: () => [...byArn.values()].sort((a, b) => a.number - b.number),
    /** Counts a closed execution against the limits. */
    closed(execution: Execution): void {
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
  return { executionArn: arn, stateMachineArn, name, status, input, output, error, cause, startDate, stopDate };
}

/** The record of a closed execution for the next process; none for a running or an Express execution. */
export function closedRecord(execution: Execution): ClosedRecord[] {
  const { number, arn, stateMachineArn, startDate, input, status, stopDate, output, error, cause, history } = execution;
  if (status === 'RUNNING' || stopDate === undefined || isExpressRun(execution)) return [];
  const { transitions } = history;
  return [
    { execution: number, arn, stateMachineArn, startDate, input, status, stopDate, transitions, output, error, cause },
  ];
}

/** Restores an execution that closed in an earlier process. */
export function closedExecution({ execution, transitions, ...record }: ClosedRecord): Execution {
  return { ...record, name: nameOf(record.arn), number: execution, history: newHistory(transitions) };
}

/** A part of an execution's ARN: the last one, or the one before the id of an Express execution. */
export function nameOf(arn: string): string {
  return arn.split(':').at(isExpressRun({ arn }) ? -2 : -1) ?? '';
}
