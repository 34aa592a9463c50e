import { type Failure, failure } from './failures.ts';
import { dueShard } from './ids.ts';
import { limits } from './limits.ts';
import type { Status, TaskEvent, TaskKey, TaskRecord } from './record.ts';
import { BEFORE_QUESTION, RUNNING } from './table/attributes.ts';
import { RECORD_VERSION } from './table/known-record.ts';
import { endEvent, openEvent } from './task-event.ts';

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
  /** …and this time of its next check. */
  readonly dueAt?: number;
  /** How many answers this change adds. */
  readonly answers?: number;
  readonly set: Partial<Omit<TaskRecord, 'owner' | 'taskId' | 'events'>>;
  /** Added to the record's events. The store adds who writes it. */
  readonly event?: TaskEvent;
  readonly remove?: readonly (keyof TaskRecord)[];
}

const MOVES: Readonly<Record<Status, readonly Status[]>> = {
  working: ['input_required', 'completed', 'failed', 'cancelled'],
  input_required: ['working', 'completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
};

export const isTerminal = (status: Status): boolean => MOVES[status].length === 0;
export const canMove = (from: Status, to: Status): boolean => MOVES[from].includes(to);
const sourcesOf = (to: Status): Status[] => (Object.keys(MOVES) as Status[]).filter((from) => canMove(from, to));

type Returned = { readonly text: string; readonly asks: boolean; readonly isError: boolean };

export interface NewTask {
  readonly tool: string;
  /** How long the client or the tool wants the task to be readable, in ms, like `timeout`. */
  readonly ttl: number;
  readonly timeout: number;
  readonly accepts: readonly string[];
  readonly express?: boolean;
  readonly legacy: boolean;
  readonly progressToken?: string | number;
  readonly digest?: string;
  readonly traceparent?: string;
  readonly outputSchemaId?: string;
  readonly scopes?: readonly string[];
  /** Answers given before the task exists, JSON text by wire key. */
  readonly inputResponses?: Readonly<Record<string, string>>;
}

/**
 * A new task, working, in round 1 (C-09). The ttl is a wish (C-11): clients send defaults of a minute, and the result
 * of longer work must stay until it is fetched.
 */
export function create(key: TaskKey, task: NewTask, now: number): TaskRecord {
  const ttl = Math.max(task.ttl, task.timeout + limits.ttl.fetch);
  return {
    ...key,
    version: RECORD_VERSION,
    status: 'working',
    round: 1,
    tool: task.tool,
    createdAt: now,
    updatedAt: now,
    ttl,
    deadlineAt: now + task.timeout,
    ...(task.accepts.length > 0 && { accepts: task.accepts }),
    ...(task.express && { express: true }),
    ...(task.legacy && { legacy: true }),
    ...(task.progressToken !== undefined && { progressToken: task.progressToken }),
    ...(task.digest !== undefined && { digest: task.digest }),
    ...(task.traceparent !== undefined && { traceparent: task.traceparent }),
    ...(task.outputSchemaId !== undefined && { outputSchemaId: task.outputSchemaId }),
    ...(task.scopes && { scopes: task.scopes }),
    inputResponses: task.inputResponses ?? {},
    due: dueShard(key.taskId, limits.dueShards),
    dueAt: now + limits.firstDue,
    expiresAt: Math.ceil((now + ttl + limits.retention) / 1_000),
    events: [{ at: now, what: 'created' }],
  };
}

/** A task that ends before it starts: its arguments were refused, and the caller asked for a task (A-14, C-07). */
export function createRefused(record: TaskRecord, result: string): TaskRecord {
  const { due: _due, dueAt: _dueAt, events = [], ...rest } = record;
  const ended = { at: record.createdAt, what: 'completed' } as const;
  return { ...rest, status: 'completed', result, isError: true, events: [...events, ended] };
}

export function cancel(now: number): Change {
  return {
    from: sourcesOf('cancelled'),
    set: { status: 'cancelled', updatedAt: now, statusMessage: 'Cancelled by the client' },
    event: { at: now, what: 'cancelled' },
    remove: RUNNING,
  };
}

export function fail({ reason, error }: Failure, now: number): Change {
  const said = { failure: reason, statusMessage: error.message, error: JSON.stringify(error) };
  return {
    from: sourcesOf('failed'),
    set: { status: 'failed', updatedAt: now, ...said },
    event: { at: now, what: 'failed' },
    remove: RUNNING,
  };
}

/** As fail, but only while the record has the status and the round of this one. */
export function failAsSeen(record: TaskRecord, failed: Failure, now: number): Change {
  const event = endEvent('failed', record, now);
  return { ...fail(failed, now), from: [record.status], round: record.round, event };
}

/**
 * The name of an execution is taken for months after its task has gone: this key belonged to another task before. If
 * the record has changed, the name is this run's: it ended before the answer to its start arrived.
 */
export function keyExpired(record: TaskRecord, now: number): Change {
  return failAsSeen(record, failure('KeyExpired'), now);
}

/**
 * A new task that Step Functions refused to start, and whose client does not have its id. It ends now, and so does its
 * ttl: no reader sees it, it is no open task, and DynamoDB deletes it.
 */
export function withdraw(record: TaskRecord, now: number): Change {
  const failed = failAsSeen(record, failure('NotStarted', { reason: 'Unavailable' }), now);
  const ttl = Math.max(0, now - record.createdAt);
  return { ...failed, set: { ...failed.set, ttl, expiresAt: Math.ceil(now / 1_000) } };
}

/**
 * What a round returned (JSON text), for a workflow that died before it could write it: as
 * `lib/workflow/outcome.jsonata`. Without `args` none are stored.
 */
export function finish(record: TaskRecord, returned: Returned, args: string | undefined, now: number): Change {
  const { text: result, asks, isError } = returned;
  if (asks) return { ...askFirst(record, result, args, now), remove: BEFORE_QUESTION };
  const set = { status: 'completed', updatedAt: now, result, isError } as const;
  const event = endEvent('completed', record, now);
  return { from: ['working'], round: record.round, set, remove: RUNNING, event };
}

/** The run of a working task's round exists. The sweep comes back to check whether it still runs. */
export function confirmStart(record: TaskRecord, now: number): Change {
  const { min, max } = limits.nextCheck;
  const next = now + Math.min(max, Math.max(min, now - record.createdAt));
  return { from: ['working'], round: record.round, set: { seenRound: record.round, dueAt: dueBy(record, next) } };
}

/** Whether the run of the record's round was seen. */
export const isSeen = ({ round, seenRound }: TaskRecord): boolean => seenRound === round;

/** The sweep comes back after `after` ms to check whether the round runs. */
export function checkAgain(record: TaskRecord, now: number, after: number = limits.firstDue): Change {
  return { from: ['working'], round: record.round, set: { dueAt: dueBy(record, now + after) } };
}

/** The round was started again: its first start was lost. */
export function restarted(record: TaskRecord, now: number): Change {
  return { ...checkAgain(record, now), ...openEvent('restarted', record, now) };
}

/**
 * Asks the questions that a tool is registered with, before any work. The answers start the first run, in round 2.
 * `asked` and `args` are JSON text, as the workflow writes them when a run asks.
 */
export function askFirst(record: TaskRecord, asked: string, args: string | undefined, now: number): Change {
  const kept = record.inputRef === undefined && args !== undefined ? { arguments: args } : {};
  return {
    from: ['working'],
    round: record.round,
    set: {
      status: 'input_required',
      updatedAt: now,
      asked,
      ...kept,
      dueAt: failVisibleAt(record),
    },
    ...openEvent('asked', record, now),
  };
}

/** The input of a task was moved to S3 and cannot be read there any more. */
export function loseInput(record: TaskRecord, now: number): Change {
  return failAsSeen(record, failure('InputLost'), now);
}

/** A change that answers or asks, with all input in S3. */
export function withInputApart(change: Change, to: TaskRecord): Change {
  const { asked: _asked, arguments: _args, ...rest } = change.set;
  return {
    ...change,
    set: { ...rest, ...(to.inputRef !== undefined && { inputRef: to.inputRef }), inputResponses: {} },
    remove: [...(change.remove ?? []), 'arguments', 'asked'],
  };
}

/** Holds only if no other answer was written meanwhile. */
const asAnswered = ({ round, inputResponses = {}, inputRef }: TaskRecord) =>
  ({
    from: ['input_required'],
    round,
    answerCount: Object.keys(inputResponses).length,
    inputRef: inputRef ?? null,
  }) as const;

/**
 * An answer was not valid. The question stays open, and 2025-11-25 streams send it again. After `limits.refusals` of
 * them the task fails: otherwise it would be asked forever.
 */
export function refuseAnswer(record: TaskRecord, key: string, now: number): Change {
  const refusals = (record.refused?.[key] ?? 0) + 1;
  if (refusals >= limits.refusals) return failAsSeen(record, failure('AnswerInvalid'), now);
  return {
    from: ['input_required'],
    round: record.round,
    set: { updatedAt: now, refused: { ...record.refused, [key]: refusals } },
    ...openEvent('refused', record, now),
  };
}

/**
 * Adds answers to open questions. The write that adds the last one also begins the next round, so no task can be
 * answered but not resumed. `outstanding` are the wire keys that are open in `record`.
 */
export function answer(
  record: TaskRecord,
  outstanding: readonly string[],
  answers: Readonly<Record<string, string>>,
  now: number,
): Change {
  // As one value: an expression that names each of some hundred answers is too long for DynamoDB.
  const inputResponses = { ...record.inputResponses, ...answers };
  const base = {
    ...asAnswered(record),
    answers: Object.keys(answers).length,
    ...openEvent('answered', record, now),
  };
  if (Object.keys(answers).length < outstanding.length) return { ...base, set: { updatedAt: now, inputResponses } };
  return {
    ...base,
    set: {
      inputResponses,
      status: 'working',
      round: record.round + 1,
      updatedAt: now,
      dueAt: dueBy(record, now + limits.firstDue),
    },
    remove: ['refused'],
  };
}

/** The record after this change, if no other change comes first. */
export function after(record: TaskRecord, change: Change): TaskRecord {
  const gone = new Set<string>(change.remove);
  const kept = Object.fromEntries(
    Object.entries(record).filter(([field]) => !gone.has(field)),
  ) as unknown as TaskRecord;
  const events = change.event ? { events: [...(record.events ?? []), change.event] } : {};
  return { ...kept, ...change.set, ...events };
}

/** In ms since the epoch: from then on every reader sees an unfinished task as failed. All late writes are over. */
export const failVisibleAt = (record: TaskRecord): number => record.deadlineAt + limits.deadlineGrace;

/** Not later than that: by then the sweep has to write the failure. */
const dueBy = (record: TaskRecord, at: number): number => Math.min(at, failVisibleAt(record));
