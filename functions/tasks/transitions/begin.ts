import type { Engine } from '../engines.ts';
import { shardOf } from '../ids.ts';
import { limits } from '../limits.ts';
import type { TaskKey, TaskRecord } from '../record.ts';
import { RECORD_VERSION } from '../record.ts';
import { type Change, failVisibleAt } from './change.ts';
import { openEvent } from './event.ts';

export interface NewTask {
  readonly tool: string;
  /** How long the client or the tool wants the task to be readable, in ms, like `timeout`. */
  readonly ttl: number;
  readonly timeout: number;
  readonly accepts: readonly string[];
  readonly engine?: Engine | undefined;
  readonly legacy: boolean;
  readonly progressToken?: string | number | undefined;
  readonly digest?: string | undefined;
  readonly traceparent?: string | undefined;
  readonly outputSchemaId?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly hookKey?: string;
  readonly caller?: string | undefined;
  readonly call?: string | undefined;
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
    ...(task.engine !== undefined && task.engine !== 'standard' && { engine: task.engine }),
    ...(task.legacy && { legacy: true }),
    ...(task.progressToken !== undefined && { progressToken: task.progressToken }),
    ...(task.digest !== undefined && { digest: task.digest }),
    ...(task.traceparent !== undefined && { traceparent: task.traceparent }),
    ...(task.outputSchemaId !== undefined && { outputSchemaId: task.outputSchemaId }),
    ...(task.scopes && { scopes: task.scopes }),
    ...(task.hookKey !== undefined && { hookKey: task.hookKey }),
    ...(task.caller !== undefined && { caller: task.caller }),
    ...(task.call !== undefined && { call: task.call }),
    inputResponses: task.inputResponses ?? {},
    due: String(shardOf(key.taskId, limits.dueShards)),
    dueAt: now + limits.firstDue,
    expiresAt: Math.ceil((now + ttl + limits.retention) / 1_000),
    events: [{ at: now, what: 'created' }],
  };
}

/** A task that ends before it starts: its arguments were refused, and the caller asked for a task (A-14, C-07). */
export function createRefused(record: TaskRecord, result: string): TaskRecord {
  const { due: _due, dueAt: _dueAt, events, ...rest } = record;
  const ended = { at: record.createdAt, what: 'completed' } as const;
  return { ...rest, status: 'completed', result, isError: true, events: [...events, ended] };
}

/**
 * Asks the questions that a tool is registered with, before any work. The answers start the first run, in round 2.
 * `asked` and `args` are JSON text, as the workflow writes them when a run asks.
 */
export function askFirst(record: TaskRecord, asked: string, args: string | undefined, now: number): Change {
  // Also beside input in S3: a signal that came early was put there without them.
  const kept = args !== undefined ? { arguments: args } : {};
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
