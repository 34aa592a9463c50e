/** One base class; each subclass is one row of requirements 1.5. Messages are safe to show to a client. */
export class McpError extends Error {
  readonly code: number;
  /** HTTP status in 2026-07-28; 2025-11-25 answers errors raised inside a method with 200. */
  readonly httpStatus: number;
  readonly data: unknown;

  constructor(code: number, message: string, options: { httpStatus?: number; data?: unknown } = {}) {
    super(message);
    this.name = new.target.name;
    this.code = code;
    this.httpStatus = options.httpStatus ?? 200;
    this.data = options.data;
  }
}

export class ParseError extends McpError {
  constructor() {
    super(-32700, 'Parse error: the body is not valid JSON', { httpStatus: 400 });
  }
}

export class InvalidRequest extends McpError {
  constructor(message: string, httpStatus = 400) {
    super(-32600, message, { httpStatus });
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

/** Unknown, foreign, expired and malformed ids get this same answer (C-28, E-15). */
export class TaskNotFound extends InvalidParams {
  constructor() {
    super('Task not found');
  }
}

export class InternalError extends McpError {
  constructor(message = 'Internal error', data?: unknown) {
    super(-32603, message, { data });
  }
}

/** Nobody's fault, and soon over. What the request did so far, doing it again does not do twice. */
export class Unavailable extends InternalError {
  constructor() {
    super('The server cannot do this at the moment: try again in a few seconds', { reason: 'Unavailable' });
  }
}

/** Of a call that has begun a task: made again, it would begin another. */
export class TaskUnread extends InternalError {
  constructor(taskId: string) {
    super(`Task ${taskId} was started, but cannot be read at the moment: ask for it again in a few seconds`, {
      reason: 'Unavailable',
      taskId,
    });
  }
}

/** Nothing was stored: the same call may succeed once another task has ended (C-37). */
export class TooManyTasks extends InternalError {
  constructor(limit: number) {
    super(`Too many open tasks: ${limit} have not ended. Wait for one of them, or cancel it`, {
      reason: 'TooManyOpenTasks',
      limit,
    });
  }
}

/** HTTP 429 in both revisions (E-29). */
export class TooManyPolls extends InvalidRequest {
  /** In seconds. */
  readonly retryAfter: number;

  constructor(retryAfter: number) {
    super(`This task is asked for too often: wait ${retryAfter} s, and then its poll interval between polls`, 429);
    this.retryAfter = retryAfter;
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
