import { dueShard } from './ids.ts';
import { limits } from './limits.ts';
import type { RpcError, Status, TaskKey, TaskRecord } from './record.ts';
import { RECORD_VERSION } from './table/known-record.ts';

/**
 * The only place that decides how a task moves (C-10, E-14). Each function returns a change: what the record must
 * still look like, and what is then written. The tool workflow's own two moves (`lib/workflow/*.jsonata`) are the
 * same kind of change, made by Step Functions.
 */
export interface Change {
  /** The write happens only while the record is in one of these… */
  readonly from: readonly Status[];
  /** …and in this round… */
  readonly round?: number;
  /** …and holds exactly so many answers, beside this reference (null: none) to others… */
  readonly answerCount?: number;
  readonly inputRef?: string | null;
  /** How many answers this change adds. */
  readonly answers?: number;
  readonly set: Partial<Omit<TaskRecord, 'owner' | 'taskId'>>;
  readonly remove?: readonly (keyof TaskRecord)[];
}

const MOVES: Readonly<Record<Status, readonly Status[]>> = {
  working: ['input_required', 'completed', 'failed', 'cancelled'],
  input_required: ['working', 'completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
};
/** Progress and memory are in records of release 0.1 only. */
const RUNNING_FIELDS = [
  'due',
  'dueAt',
  'asked',
  'arguments',
  'inputResponses',
  'inputRef',
  'refused',
  'progress',
  'progressTotal',
  'progressToken',
  'memory',
  'memoryRound',
] as const;
const ROUND_FIELDS = ['statusMessage', 'refused', 'progress', 'progressTotal', 'memory', 'memoryRound'] as const;

export const KEY_EXPIRED = 'The task of this idempotency key has expired: use a new key';

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
  readonly legacy: boolean;
  readonly progressToken?: string | number;
  readonly digest?: string;
  readonly outputSchemaId?: string;
  readonly scopes?: readonly string[];
  /** Answers that were there before the task, JSON text by wire key. */
  readonly inputResponses?: Readonly<Record<string, string>>;
}

/**
 * A new task, working, in round 1 (C-09). The ttl is a wish (C-11): clients send defaults as short as a minute, and the
 * result of longer work must still be there to be fetched.
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
    ...(task.legacy && { legacy: true }),
    ...(task.progressToken !== undefined && { progressToken: task.progressToken }),
    ...(task.digest !== undefined && { digest: task.digest }),
    ...(task.outputSchemaId !== undefined && { outputSchemaId: task.outputSchemaId }),
    ...(task.scopes && { scopes: task.scopes }),
    inputResponses: task.inputResponses ?? {},
    due: dueShard(key.taskId, limits.dueShards),
    dueAt: now + limits.firstDue,
    expiresAt: Math.ceil((now + ttl + limits.retention) / 1_000),
  };
}

/** A task that ended before it could start: its arguments were refused, and the caller asked for a task (A-14, C-07). */
export function createRefused(record: TaskRecord, result: string): TaskRecord {
  const { due: _due, dueAt: _dueAt, ...rest } = record;
  return { ...rest, status: 'completed', result, isError: true };
}

export function cancel(now: number): Change {
  return {
    from: sourcesOf('cancelled'),
    set: { status: 'cancelled', updatedAt: now, statusMessage: 'Cancelled by the client' },
    remove: RUNNING_FIELDS,
  };
}

export function fail(error: RpcError, now: number): Change {
  return {
    from: sourcesOf('failed'),
    set: { status: 'failed', updatedAt: now, statusMessage: error.message, error: JSON.stringify(error) },
    remove: RUNNING_FIELDS,
  };
}

/** As fail, but only while the record, which is unfinished, is as it was when this was decided. */
export function failAsSeen(record: TaskRecord, error: RpcError, now: number): Change {
  return { ...fail(error, now), from: [record.status], round: record.round };
}

/**
 * Names of executions outlive their tasks by months: this key had another task, long ago. If the record has changed,
 * though, it was this run, which has ended before the answer of its start came.
 */
export function keyExpired(record: TaskRecord, now: number): Change {
  return failAsSeen(record, { code: -32602, message: KEY_EXPIRED }, now);
}

/**
 * A new task that Step Functions has refused to start, and whose client does not have its id. It ends now, and so does
 * its ttl: no reader sees it any more, it is no open task, and DynamoDB deletes it.
 */
export function withdraw(record: TaskRecord, now: number): Change {
  const error = { code: -32603, message: 'The task could not be started', data: { reason: 'Unavailable' } };
  const failure = failAsSeen(record, error, now);
  const ttl = Math.max(0, now - record.createdAt);
  return { ...failure, set: { ...failure.set, ttl, expiresAt: Math.ceil(now / 1_000) } };
}

/** What a round returned, as its workflow writes it (`lib/workflow/outcome.jsonata`), for one that died before. JSON text. */
export function finish(record: TaskRecord, returned: Returned, args: string, now: number): Change {
  const { text: result, asks, isError } = returned;
  if (asks) return { ...askFirst(record, result, args, now), remove: ROUND_FIELDS };
  const set = { status: 'completed', updatedAt: now, result, isError } as const;
  return { from: ['working'], round: record.round, set, remove: [...RUNNING_FIELDS, 'statusMessage'] };
}

/** The run of a working task's round is there. The sweep comes back to see whether it still runs. */
export function confirmStart(record: TaskRecord, now: number): Change {
  const { min, max } = limits.nextLook;
  const next = now + Math.min(max, Math.max(min, now - record.createdAt));
  return { from: ['working'], round: record.round, set: { seenRound: record.round, dueAt: dueBy(record, next) } };
}

/** Whether the run of the record's round was seen. */
export const isSeen = ({ round, seenRound }: TaskRecord): boolean => seenRound === round;

/** The sweep is to come back and see whether the round runs. `after` in ms. */
export function lookAgain(record: TaskRecord, now: number, after: number = limits.firstDue): Change {
  return { from: ['working'], round: record.round, set: { dueAt: dueBy(record, now + after) } };
}

/**
 * Asks before any work: questions that come with the tool itself. The answers start the first run, in round 2.
 * `asked` and `args` are JSON text, as the workflow writes them for questions of its own.
 */
export function askFirst(record: TaskRecord, asked: string, args: string, now: number): Change {
  const kept = record.inputRef === undefined ? { arguments: args } : {};
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
  };
}

/** What a task was called with, asked or answered lies in S3, and cannot be read there any more. */
export function loseInput(record: TaskRecord, now: number): Change {
  const message = 'What this task was called with, or asks, can no longer be read: call the tool again';
  return failAsSeen(record, { code: -32603, message, data: { reason: 'InputLost' } }, now);
}

/** The input of a task that waits lies in S3 by now. To its readers nothing changes. */
export function moveInput(record: TaskRecord, to: TaskRecord): Change {
  return { ...asAnswered(record), ...movedTo(to) };
}

/** An answer, as `answer` makes it, that lies in S3 with all the rest. */
export function answerMoved(change: Change, to: TaskRecord): Change {
  const { set, remove } = movedTo(to);
  return { ...change, set: { ...change.set, ...set }, remove: [...(change.remove ?? []), ...(remove ?? [])] };
}

const movedTo = ({ inputRef, version }: TaskRecord): Pick<Change, 'set' | 'remove'> => ({
  set: { ...(inputRef !== undefined && { inputRef }), ...(version !== undefined && { version }), inputResponses: {} },
  remove: ['arguments', 'asked'],
});

/** Holds only while nobody answers meanwhile. */
const asAnswered = ({ round, inputResponses = {}, inputRef }: TaskRecord) =>
  ({
    from: ['input_required'],
    round,
    answerCount: Object.keys(inputResponses).length,
    inputRef: inputRef ?? null,
  }) as const;

/**
 * An answer was not valid: nothing changes but that the question is asked again where asking is sending (2025-11-25).
 * A client that cannot do better ends the task: it would be asked for ever.
 */
export function refuseAnswer(record: TaskRecord, key: string, now: number): Change {
  const refusals = (record.refused?.[key] ?? 0) + 1;
  if (refusals >= limits.refusals) {
    const message = `The client gave ${limits.refusals} answers that are not valid to one question`;
    return failAsSeen(record, { code: -32603, message, data: { reason: 'AnswerInvalid' } }, now);
  }
  return {
    from: ['input_required'],
    round: record.round,
    set: { updatedAt: now, refused: { ...record.refused, [key]: refusals } },
  };
}

/**
 * Adds answers to outstanding questions. When they are the last ones, the same write starts the next round, so that
 * "answered but not resumed" cannot be a state. `outstanding` are the wire keys still open in `record`.
 */
export function answer(
  record: TaskRecord,
  outstanding: readonly string[],
  answers: Readonly<Record<string, string>>,
  now: number,
): Change {
  // All of them, as one value: an expression that named each would be too long for DynamoDB beyond some hundred.
  const inputResponses = { ...record.inputResponses, ...answers };
  const base = { ...asAnswered(record), answers: Object.keys(answers).length };
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
    remove: ['statusMessage', 'refused'],
  };
}

/** The record as a change leaves it, if nobody else changes it first. */
export function after(record: TaskRecord, change: Change): TaskRecord {
  const gone = new Set<string>((change.remove ?? []).filter((field) => !(field in change.set)));
  const kept = Object.fromEntries(
    Object.entries(record).filter(([field]) => !gone.has(field)),
  ) as unknown as TaskRecord;
  return { ...kept, ...change.set };
}

/** From this moment, in ms since the epoch, every reader sees an unfinished task as failed: all late writes are over. */
export const failVisibleAt = (record: TaskRecord): number => record.deadlineAt + limits.deadlineGrace;

/** Not later than that: by then the sweep has to write the failure. */
const dueBy = (record: TaskRecord, at: number): number => Math.min(at, failVisibleAt(record));
