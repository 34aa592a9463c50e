import type { Engine } from './engines.ts';
import type { FailureReason } from './failures.ts';

/**
 * The record of a task, as it is in the tasks table (docs/architecture/tasks.md, "The task record"). Both eras show it.
 * An attribute written when a task is created: add it here, and to `NewTask` and `create` in `transitions/begin.ts`. The
 * endpoint fills it in `functions/mcp/methods/create-task.ts`, a rerun in `functions/operator/acts/rerun.ts`.
 */

/** Written into each new record. Raise it in a release that changes what a record means to its readers. */
export const RECORD_VERSION = 1;

/** The statuses of an unfinished task. `waiting`: it waits for a person, a system or the clock; clients see `working`. */
export const OPEN = ['working', 'waiting', 'input_required'] as const;
export const STATUSES = [...OPEN, 'completed', 'failed', 'cancelled'] as const;
export type Status = (typeof STATUSES)[number];

export interface TaskRecord {
  /** Partition key: whom the task belongs to. */
  readonly owner: string;
  /** Sort key. */
  readonly taskId: string;
  /** The version of the layout. See `table/known-record.ts`. */
  readonly version: number;
  readonly status: Status;
  /** 1, then +1 each time answered input restarts the work. */
  readonly round: number;
  readonly tool: string;
  /** Milliseconds since the epoch, like every `…At` but `expiresAt`. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** How long the record can be read, in ms from `createdAt`. */
  readonly ttl: number;
  /** When unfinished work is given up. */
  readonly deadlineAt: number;
  readonly statusMessage?: string;
  /** Of a record read with the report of its run, and never stored in it, like `progressTotal`. */
  readonly progress?: number;
  readonly progressTotal?: number;
  /** The engine that runs the current round. @default 'standard' */
  readonly engine?: Engine;
  /** Made by a 2025-11-25 client (F-04). */
  readonly legacy?: boolean;
  /** The creating request's token for progress notifications (C-33). */
  readonly progressToken?: string | number;
  /** The 2025-11-25 call that waits for it, for `notifications/cancelled` (B-15): a hash of its session and request id. */
  readonly call?: string;
  /** Cancelled by that notification: the call gets no answer. */
  readonly unheard?: boolean;
  /** The trace of the call that created it, as W3C Trace Context writes it. Each round gets it. */
  readonly traceparent?: string;
  /** How many answers of this round were refused as invalid, by short names of `input.ts`: a 2025-11-25 stream then asks again. */
  readonly refused?: Readonly<Record<string, number>>;
  /** The scopes that its tool needed, for a check after the tool was removed. */
  readonly scopes?: readonly string[];
  /** Which outputSchema its result has to fit, even if another one is deployed before it is read. */
  readonly outputSchemaId?: string;
  /** With an idempotency key: a hash of the call, to tell a repeat from another call under the same key. */
  readonly digest?: string;
  /** The kinds of input the creating client declared (E-32), e.g. `elicitation/create`. */
  readonly accepts?: readonly string[];

  /** While input is required, and until the next round has ended: JSON text, exactly as the tool returned it. */
  readonly asked?: string;
  /** While its round waits: JSON text of its waits by name (`waits/waits.ts`). */
  readonly waits?: string;
  /**
   * One for each signal that came in this round: the name of its wait, or `UNNAMED` (`waits/waits.ts`). The signals are among the
   * answers.
   */
  readonly signalled?: readonly string[];
  /**
   * When a signal came while the round still worked, in ms: the sweep checks the round as soon as it waits. `UNNAMED_EARLY`: one
   * came that the round may wait for, and the record had no room for its name.
   */
  readonly early?: number;
  /** 128 random bits, base64url. The URLs of links and webhooks are made with it (`waits/signal-url.ts`). */
  readonly hookKey?: string;
  /** Who called, as far as the server knows and tools see: JSON text of `Caller` (`tool-contract.ts`). */
  readonly caller?: string;
  /** JSON text of the tool's arguments; kept once a round ended in input_required, on Express from the beginning. */
  readonly arguments?: string;
  /**
   * Answers of all rounds, JSON text by wire key (`r<round>.<name>`), and signals (`waits/signals.ts`); only while
   * unfinished.
   */
  readonly inputResponses?: Readonly<Record<string, string>>;
  /**
   * While unfinished: where `arguments`, `asked` and `inputResponses` are in S3, if they were too large for the record.
   * What the record itself holds of them is newer. See `s3/input-store.ts`.
   */
  readonly inputRef?: string;

  /** completed: JSON text of what the tool returned, byte for byte. */
  readonly result?: string;
  /** completed: the tool marked its result as an error. Shown as `failed` in 2025-11-25 (F-06). */
  readonly isError?: boolean;
  /** failed: why. Code decides by it, never by a message. */
  readonly failure?: FailureReason;
  /** failed: JSON text of a JSON-RPC error with an era-neutral code (F-12). */
  readonly error?: string;

  /** JSON text of the tool's arguments, past the end of the task: see `keepArguments` of a tool. */
  readonly kept?: string;
  /** The id of the task of the same owner that an operator ran again as this one. */
  readonly rerunOf?: string;

  /** Shard and time of the sparse `due` index; while unfinished, or until its run is stopped. */
  readonly due?: string;
  readonly dueAt?: number;
  /** The first round whose reports of progress are shown, if its tool has gone on after waits. @default `round` */
  readonly reportsFrom?: number;
  /**
   * The last round whose run was seen in Step Functions: it has started, so it is never started again. On Express, where
   * no run can be seen: `dueAt` is when the run of this round is probably over.
   */
  readonly seenRound?: number;
  /** DynamoDB TTL, in seconds since the epoch. */
  readonly expiresAt: number;
  /** What happened to the task, oldest first: for operators (docs/events.md). */
  readonly events: readonly TaskEvent[];
}

/** One change of a task, written together with it. */
export interface TaskEvent {
  /** ms since the epoch. */
  readonly at: number;
  readonly what:
    | 'created'
    | 'asked'
    | 'answered'
    | 'refused'
    | 'waits'
    | 'signalled'
    | 'resumed'
    | 'restarted'
    | 'completed'
    | 'failed'
    | 'cancelled';
  /** Of the round that asked, was answered, waits, begins after waits, was started again or ended. Left out in round 1. */
  readonly round?: number;
  /** Who wrote it. Left out for the tool workflow. */
  readonly by?: Writer;
  /** When the workflow of the round began: with `asked`, `completed` and `failed` by the workflow. ms since the epoch. */
  readonly startedAt?: number;
  /** How often the workflow tried the tool again in this round. Left out for never. */
  readonly retries?: number;
  /** An operator: who, and why. */
  readonly who?: string;
  readonly reason?: string;
  /** A signal: random letters. Its writer knows its own write by them, also beside another one in the same millisecond. */
  readonly mark?: string;
}

/** Code that writes task records, besides the tool workflow. */
export type Writer = 'endpoint' | 'signals' | 'reconciler' | 'operator';

/** A task's key. It follows from the identity of the caller and the id that they sent. */
export interface TaskKey {
  readonly owner: string;
  readonly taskId: string;
}
