import { limits } from './limits.ts';

/**
 * One base class; each subclass is one row of docs/protocol.md 1.5. Messages are safe to show to a client. A cause is
 * for developers: no client sees it.
 */
export class McpError extends Error {
  readonly code: number;
  /** HTTP status in 2026-07-28; 2025-11-25 answers errors raised inside a method with 200. */
  readonly httpStatus: number;
  readonly data: unknown;
  /** In seconds. An error that has it keeps its HTTP status in 2025-11-25, too. */
  readonly retryAfter: number | undefined;

  constructor(
    code: number,
    message: string,
    options: { httpStatus?: number; data?: unknown; retryAfter?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.httpStatus = options.httpStatus ?? 200;
    this.data = options.data;
    this.retryAfter = options.retryAfter;
  }
}

export class ParseError extends McpError {
  constructor() {
    super(-32700, 'Parse error: the body is not valid JSON', { httpStatus: 400 });
  }
}

/** Refuses the HTTP request: its status counts in both revisions. */
export class InvalidRequest extends McpError {
  constructor(message: string, httpStatus = 400, data?: unknown) {
    super(-32600, message, { httpStatus, data });
  }
}

export class MethodNotFound extends McpError {
  constructor(method: string, data?: unknown) {
    super(-32601, `Method not found: ${method.slice(0, 100)}`, { httpStatus: 404, data });
  }
}

/** The method exists, but not for this tool (C-05, C-06). */
export class NotSupportedByTool extends McpError {
  constructor(message: string) {
    super(-32601, message);
  }
}

export class InvalidParams extends McpError {
  constructor(message: string, httpStatus = 200) {
    super(-32602, message, { httpStatus });
  }
}

/** Unknown, foreign and expired URIs get this same answer. */
export class ResourceNotFound extends McpError {
  constructor(uri: string) {
    super(-32602, 'Resource not found', { data: { uri } });
  }
}

/** Unknown, foreign, expired and malformed ids get this same answer (C-28, E-15). */
export class TaskNotFound extends InvalidParams {
  constructor() {
    super('Task not found');
  }
}

export class InternalError extends McpError {
  constructor(message = 'Internal error', data?: unknown, cause?: unknown) {
    super(-32603, message, { data, cause });
  }
}

/** This release does not understand the stored record (docs/deploying.md, "Deploying while tasks run"). */
export class RecordUnknown extends InternalError {
  constructor(taskId: string) {
    super(`Task ${taskId} was stored by another release of this server: ask for it again after the deployment`, {
      reason: 'RecordUnknown',
      taskId,
    });
  }
}

/** A short outage of AWS. To send the same request again is safe. */
export class Unavailable extends InternalError {
  constructor(cause?: unknown) {
    super('The server cannot do this at the moment: try again in a few seconds', { reason: 'Unavailable' }, cause);
  }
}

/** Step Functions starts no more executions at the moment. What was stored stays, so the same request can finish it. */
export class TooManyStarts extends McpError {
  /** The sweep reads it, and a bundle shortens the names of classes. */
  override readonly name: string = 'TooManyStarts';
  /** True if no attempt can have started the run: there was one attempt, and Step Functions refused it. */
  readonly certain: boolean;

  constructor(certain: boolean, why = 'Too many tasks are started at the moment') {
    const retryAfter = limits.startRetryAfter / 1_000;
    const data = { reason: 'Unavailable' };
    super(-32603, `${why}: try again in ${retryAfter} s`, { httpStatus: 429, retryAfter, data });
    this.certain = certain;
  }
}

/** The call has started a task. The same call again would start another. */
export class TaskUnread extends InternalError {
  constructor(taskId: string, cause?: unknown) {
    const message = `Task ${taskId} was started, but cannot be read at the moment: ask for it again in a few seconds`;
    super(message, { reason: 'Unavailable', taskId }, cause);
  }
}

/** Nothing was stored. The same call can succeed after another task has ended (C-37). */
export class TooManyTasks extends InternalError {
  constructor(limit: number) {
    super(`Too many open tasks: ${limit} have not ended. Wait for one of them, or cancel it`, {
      reason: 'TooManyOpenTasks',
      limit,
    });
  }
}

/** Nothing was stored: the caller has as many refused tasks as it may have (C-37). */
export class TooManyRefused extends InvalidParams {
  constructor(problem: string, limit: number) {
    super(`${problem} (no task was made: ${limit} calls of this caller were refused within a day)`);
  }
}

/** Too many requests of the caller wait already. HTTP 429 in both revisions (C-37, E-29). */
export class TooManyStreams extends McpError {
  constructor(limit: number) {
    const retryAfter = limits.streamRetryAfter / 1_000;
    const message = `Too many open streams: ${limit} requests of this caller are waiting already. Close one, or try again in ${retryAfter} s`;
    super(-32603, message, { httpStatus: 429, retryAfter, data: { reason: 'TooManyStreams', limit } });
  }
}

/** HTTP 429 in both revisions (E-29). */
export class TooManyPolls extends McpError {
  constructor(retryAfter: number) {
    const message = `This task is asked for too often: wait ${retryAfter} s, and then its poll interval between polls`;
    super(-32600, message, { httpStatus: 429, retryAfter });
  }
}

/** HTTP 429 in both revisions (C-37, E-29). */
export class TooManyLists extends McpError {
  constructor(retryAfter: number) {
    const message = `This caller lists or listens too often: wait ${retryAfter} s`;
    super(-32600, message, { httpStatus: 429, retryAfter });
  }
}

/** Names every scope that the request needs, so one new token is enough (G-09). */
export class InsufficientScope extends InvalidRequest {
  constructor(scopes: readonly string[]) {
    const message = `Forbidden: get a token with the scopes ${scopes.join(' ')}`;
    super(message, 403, { reason: 'InsufficientScope', scopes });
  }
}

export class HeaderMismatch extends McpError {
  constructor(detail: string) {
    super(-32020, `Header mismatch: ${detail}`, { httpStatus: 400 });
  }
}

/**
 * The message says all that `data` says: most clients show nothing else (D-10).
 *
 * @example
 * // Tool x only runs as a task: declare the extension io.modelcontextprotocol/tasks
 * new MissingClientCapability('Tool x only runs as a task', { extensions: { 'io.modelcontextprotocol/tasks': {} } });
 */
export class MissingClientCapability extends McpError {
  constructor(why: string, requiredCapabilities: Readonly<Record<string, object>>) {
    const [kind = '', inner = {}] = Object.entries(requiredCapabilities)[0] ?? [];
    const [detail] = Object.keys(inner);
    const named = detail === undefined ? kind : `${kind}.${detail}`;
    const what = kind === 'extensions' ? `extension ${detail}` : `capability ${named}`;
    super(-32021, `${why}: declare the ${what}`, { httpStatus: 400, data: { requiredCapabilities } });
  }
}

export class UnsupportedVersion extends McpError {
  constructor(supported: readonly string[], requested: string) {
    super(-32022, 'Unsupported protocol version', { httpStatus: 400, data: { supported, requested } });
  }
}
