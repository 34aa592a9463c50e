/**
 * A connected official client, of `@modelcontextprotocol/client` 2.x or `@modelcontextprotocol/sdk` 1.x. The type has only
 * the members that identify a client, so that programs compile with one of the packages.
 */
export interface OfficialClient {
  readonly transport?: unknown;
  request(...args: never[]): Promise<unknown>;
  setRequestHandler(...args: never[]): unknown;
  getServerCapabilities(): unknown;
}

/** The state of a task. */
export interface Progress {
  /** @example '01m80pdncdf5hhafp9sjx5yxge9dpx949hkx' */
  readonly taskId: string;
  /** @example 'working' */
  readonly status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
  /** The last report of the tool. @default none @example '3 of 12 files' */
  readonly message?: string;
}

/** A question of a tool: a form to fill in, or a page to open. */
export interface Question {
  /** @example 'Really delete it?' */
  readonly message: string;
  /** @default 'form' @example 'url' */
  readonly mode?: 'form' | 'url';
  /**
   * The fields of a form: the properties of a JSON Schema.
   * @default none: not a form
   * @example { properties: { ok: { type: 'boolean' } }, required: ['ok'] }
   */
  readonly requestedSchema?: { readonly properties: Readonly<Record<string, unknown>>; readonly required?: string[] };
  /** The URL of a page. @default none: not a page @example 'https://login.example.com/start' */
  readonly url?: string;
}

export type Answer =
  | { readonly action: 'accept'; readonly content?: Readonly<Record<string, string | number | boolean | string[]>> }
  | { readonly action: 'decline' | 'cancel' };

export interface TaskOptions {
  /**
   * Called once, as soon as the task exists. Store the id, and `resumeTask` continues the task after a restart.
   * @default none
   * @example (taskId) => writeFile('task.txt', taskId)
   */
  readonly onTask?: (taskId: string) => void | Promise<void>;
  /** Called at each change. @default none @example ({ status, message }) => console.log(status, message) */
  readonly onProgress?: (progress: Progress) => void;
  /**
   * Answers a question of the tool. The client must have declared `elicitation`. If this function is missing or throws, the
   * call fails with that error, and the question stays open for `resumeTask`.
   * @default none
   * @example ({ message }) => ({ action: 'accept', content: { ok: window.confirm(message) } })
   */
  readonly onQuestion?: (question: Question) => Answer | Promise<Answer>;
  /**
   * An abort cancels the task on the server. The call then fails with the signal's reason.
   * @default none
   * @example AbortSignal.timeout(60_000)
   */
  readonly signal?: AbortSignal;
}

export interface CallOptions extends TaskOptions {
  /**
   * The same key and arguments get the same task, so a call can be repeated safely. Use a random UUID. On a server without
   * auth, a key of 2025-11-25 counts for the connection only: to continue after a restart, store the id by `onTask`.
   * @default none
   * @example crypto.randomUUID()
   */
  readonly idempotencyKey?: string;
}

/** The result of a tool. */
export interface ToolResult {
  readonly content: readonly { readonly type: string; readonly text?: string; readonly [field: string]: unknown }[];
  readonly structuredContent?: unknown;
  /** Whether the tool reports a failure, which `content` describes. */
  readonly isError?: boolean;
}

export const KEY = 'mcp-task-server/idempotencyKey';
export const NO_ANSWER = 'The tool asks a question: pass onQuestion';
