import type { Engine } from '../tasks/engines.ts';
import type { TaskRecord } from '../tasks/record.ts';
import type { InputStore } from '../tasks/s3/input-store.ts';
import type { Change } from '../tasks/transitions/change.ts';

/** What the engine reads and writes. A front end hands in what its caller may do. */
export interface TaskPort {
  /** False when a task with this key exists already. */
  create(record: TaskRecord): Promise<boolean>;
  get(record: Pick<TaskRecord, 'owner' | 'taskId'>): Promise<TaskRecord | undefined>;
  /** The record after the change. Undefined when its conditions do not hold. */
  apply(record: TaskRecord, change: Change): Promise<TaskRecord | undefined>;
  /** As apply, but only says whether the change was made. */
  applyBlind(record: TaskRecord, change: Change): Promise<boolean>;
}

/** Runs of rounds, each on the engine of its record. */
export interface Workflow {
  /**
   * Starts the record's current round. A second start does nothing: the execution is named after the round. `taken`:
   * another start has used that name, with another input, or for an execution that has ended. Where a start is not
   * idempotent (`RunTraits`), each is one more run. Throws TooManyStarts.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: most callers ignore it.
  start(record: TaskRecord, input: string): Promise<'taken' | void>;
  /** Best effort: the record is final already, so a run that goes on cannot change it. */
  stop(record: TaskRecord): Promise<void>;
}

/** What every act on a task needs from outside. The contexts of the front ends extend it. */
export interface EngineContext {
  readonly store: TaskPort;
  readonly workflow: Workflow;
  readonly inputs: InputStore;
  /** What runs the tool's next round. Undefined: this server has no tool of this name that runs as a task. */
  readonly toolEngine: (tool: string) => Engine | undefined;
  /** Logs what went wrong beside an act that goes on. */
  readonly log: (event: string, facts: Readonly<Record<string, unknown>>) => void;
  readonly now: () => number;
}

/** What a start or a stop needs. */
export type RunContext = Omit<EngineContext, 'store'> & {
  readonly store: Pick<TaskPort, 'get' | 'apply' | 'applyBlind'>;
};
