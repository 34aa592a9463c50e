import type { ClosedStatus, StateMachineSpec } from '../types.ts';

/** The lines of the journal: JSON objects that tell themselves apart by their `type`. */
export type JournalRecord =
  | (MachineRecord & { readonly type: 'machine' })
  | (StartedRecord & { readonly type: 'started' })
  | (CalledRecord & { readonly type: 'called' })
  | (AnsweredRecord & { readonly type: 'answered' })
  | (EndedRecord & { readonly type: 'ended' })
  | (ClosedRecord & { readonly type: 'closed' });

/** A definition, once for all executions that began with it: a later one of the same name does not concern them. */
export interface MachineRecord {
  /** The hash of the rest. */
  readonly machine: string;
  readonly spec: StateMachineSpec;
}

export interface StartedRecord {
  /** The number of the execution, by which all other records name it. */
  readonly execution: number;
  readonly machine: string;
  readonly arn: string;
  readonly startDate: number;
  readonly input: string;
  /** Of its random numbers. */
  readonly seed: string;
}

/** A call of an integration is about to begin. */
export interface CalledRecord {
  readonly execution: number;
  readonly ask: number;
}

/** The outcome of something that an execution waits for. */
export type Answer =
  | { readonly result: unknown }
  | { readonly error: string; readonly cause: string }
  | { readonly again: true };

/** Something that an execution waited for came, at this instant. */
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

/** An execution that is over, in one line; without input and output once they are forgotten. */
export interface ClosedRecord extends EndedRecord {
  readonly arn: string;
  readonly stateMachineArn: string;
  readonly startDate: number;
  readonly input?: string | undefined;
}

/** What executions have to say. Throws when it cannot be written: what is not in the journal must not happen. */
export interface Journal {
  started(record: StartedRecord, spec: StateMachineSpec): void;
  /** @param durable whether it has to outlive a power cut, too @default false */
  called(record: CalledRecord, durable?: boolean): void;
  answered(record: AnsweredRecord): void;
  ended(record: EndedRecord): void;
  /** Everything later is dropped, as when the process had died. */
  close(): void;
}
