import { limits } from '../limits.ts';
import type { Status, TaskEvent, TaskRecord } from '../record.ts';

/**
 * The only place that changes a status (C-10, E-14). Each function returns a change: the conditions on the record, and
 * what is written if they hold. `deadlines.ts` says when a deadline demands one. Step Functions makes two moves by the
 * same conditions (`lib/workflow/*.jsonata`).
 */
export interface Change {
  /** The write happens only while the record is in one of these… */
  readonly from: readonly Status[];
  /** …and in this round… */
  readonly round?: number;
  /** …and while it holds this many answers (they are only ever added, so an equal count means the same ones)… */
  readonly answerCount?: number;
  /** …and this reference to earlier ones in S3 (null: none)… */
  readonly inputRef?: string | null;
  /** …and this time of its next check… */
  readonly dueAt?: number;
  /** …and of its last change. */
  readonly updatedAt?: number;
  /** How many answers this change adds. */
  readonly answers?: number;
  readonly set: Partial<Omit<TaskRecord, 'owner' | 'taskId' | 'events'>>;
  /** Added to the record's events. The store adds who writes it. */
  readonly event?: TaskEvent;
  readonly remove?: readonly (keyof TaskRecord)[];
}

const MOVES: Readonly<Record<Status, readonly Status[]>> = {
  working: ['waiting', 'input_required', 'completed', 'failed', 'cancelled'],
  waiting: ['working', 'failed', 'cancelled'],
  input_required: ['working', 'completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
};

export const isTerminal = (status: Status): boolean => MOVES[status].length === 0;

export const canMove = (from: Status, to: Status): boolean => MOVES[from].includes(to);

export const sourcesOf = (to: Status): Status[] => (Object.keys(MOVES) as Status[]).filter((from) => canMove(from, to));

/** The record after this change, if no other change comes first. */
export function after(record: TaskRecord, change: Change): TaskRecord {
  const gone = new Set<string>(change.remove);
  const kept = Object.fromEntries(
    Object.entries(record).filter(([field]) => !gone.has(field)),
  ) as unknown as TaskRecord;
  const events = change.event ? { events: [...record.events, change.event] } : {};
  return { ...kept, ...change.set, ...events };
}

/**
 * Whether a change whose conditions did not hold was made all the same: the AWS client repeats a write whose answer was
 * lost. Its event shows that.
 */
export function isWritten({ events }: TaskRecord, { event }: Change): boolean {
  const same = ({ at, what, who, reason, mark }: TaskEvent) =>
    at === event?.at && what === event.what && who === event.who && reason === event.reason && mark === event.mark;
  return events.some(same);
}

/** In ms since the epoch: from then on every reader sees an unfinished task as failed. All late writes are over. */
export const failVisibleAt = (record: TaskRecord): number => record.deadlineAt + limits.deadlineGrace;

/** The condition that the time of the next check is unchanged. */
export const sameDueAt = ({ dueAt }: TaskRecord): Pick<Change, 'dueAt'> => (dueAt === undefined ? {} : { dueAt });

/** For the condition that no answer and no signal has come meanwhile. */
export const unanswered = ({ round, inputResponses = {}, inputRef }: TaskRecord) =>
  ({ round, answerCount: Object.keys(inputResponses).length, inputRef: inputRef ?? null }) as const;

/** Not later than that: by then the sweep has to write the failure. */
export const dueBy = (record: TaskRecord, at: number): number => Math.min(at, failVisibleAt(record));
