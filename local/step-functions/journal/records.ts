import type { ClosedStatus, StateMachineSpec } from '../types.ts';

/** The lines of the journal: JSON objects, each with a `type`. */
export type JournalRecord =
  | (MachineRecord & { readonly type: 'machine' })
  | (StartedRecord & { readonly type: 'started' })
  | (CalledRecord & { readonly type: 'called' })
  | (AnsweredRecord & { readonly type: 'answered' })
  | (EndedRecord & { readonly type: 'ended' })
  | (ClosedRecord & { readonly type: 'closed' });

/** A definition, once for all executions that started with it. They keep it if the machine gets another one. */
export interface MachineRecord {
  /** The hash of `spec`. */
  readonly machine: string;
  readonly spec: StateMachineSpec;
}

export interface StartedRecord {
  /** The number by which all other records name the execution. */
  readonly execution: number;
  readonly machine: string;
  readonly arn: string;
  readonly startDate: number;
  readonly input: string;
  /** The seed of its random numbers. */
  readonly seed: string;
}

export interface CalledRecord {
  readonly execution: number;
  readonly ask: number;
}

export type Answer =
  | { readonly result: unknown }
  | { readonly error: string; readonly cause: string }
  | { readonly again: true };

/** A call or a wait has ended, at this time. */
export interface AnsweredRecord extends CalledRecord {
  readonly state: string;
  readonly at: number;
  readonly answer: Answer;
}

export interface EndedRecord {
  readonly execution: number;
  readonly status: ClosedStatus;
  readonly stopDate: number;
  readonly transitions: number;
  readonly output?: string | undefined;
  readonly error?: string | undefined;
  readonly cause?: string | undefined;
}

/** A closed execution in one line; without input and output once they are dropped. */
export interface ClosedRecord extends EndedRecord {
  readonly arn: string;
  readonly stateMachineArn: string;
  readonly startDate: number;
  readonly input?: string | undefined;
}

/** Records the steps of executions. Throws if a record cannot be written: a step outside of the journal must not happen. */
export interface Journal {
  started(record: StartedRecord, spec: StateMachineSpec): void;
  /**
   * @param durable whether it must also survive a power cut @default false
   * @returns resolves once the record is on the disk; undefined if it need not be
   */
  called(record: CalledRecord, durable?: boolean): Promise<void> | undefined;
  answered(record: AnsweredRecord): void;
  ended(record: EndedRecord): void;
  /** Drops all later records, as if the process had died. */
  close(): void;
}
