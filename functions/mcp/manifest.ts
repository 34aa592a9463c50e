import type { InputRequest } from '../tasks/tool-contract.ts';

/** What the endpoint knows of its tools: made at synth, bundled with the code, never read at run time. */

export type TaskSupport = 'forbidden' | 'optional' | 'required';
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A header that carries one argument, from a property marked `x-mcp-header` (D-07, D-08). */
export interface ParamHeader {
  /** Name without the `Mcp-Param-` prefix. */
  readonly header: string;
  /** Where the argument lies: property names from the root. */
  readonly path: readonly string[];
  readonly type: 'string' | 'integer' | 'boolean';
}

export interface ToolEntry {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  /** Names this very outputSchema: what it does not judge when a task is made, it never judges. */
  readonly outputSchemaId?: string;
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly taskSupport: TaskSupport;
  /** How long one task may work, in ms. */
  readonly timeout: number;
  /** Fixed poll interval, in ms. */
  readonly pollInterval?: number;
  /** How long a task mostly takes, in ms: what the poll interval goes by where it is not fixed. */
  readonly expectedDuration?: number;
  /** How long its tasks can be read, in ms, when the client asks for nothing. */
  readonly ttl?: number;
  /** Task-capable tools: the end of the state machine's name. */
  readonly machine?: string;
  /** Forbidden tools: index into the TOOL_FUNCTIONS variable. */
  readonly function?: number;
  /** Tools that are state machines: index into the TOOL_MACHINES variable. */
  readonly stateMachine?: number;
  /** All that a caller's token must allow, where this is more than what every call needs. */
  readonly scopes?: readonly string[];
  readonly headers?: readonly ParamHeader[];
  /** Questions to ask before the tool runs, by the tool's own names. */
  readonly askFirst?: Readonly<Record<string, InputRequest>>;
  /** What a host may tell its model while the task runs (C-13). */
  readonly immediateResponse?: string;
}

/** Whether a run of it that may have happened can be repeated, as its author says. */
export const isRepeatable = ({ annotations = {} }: ToolEntry): boolean =>
  annotations.readOnlyHint === true || annotations.idempotentHint === true;

export interface Manifest {
  readonly serverInfo: { readonly name: string; readonly version: string; readonly title?: string };
  readonly instructions?: string;
  /** What the front door knows of callers: nothing, the claims of their tokens, or who signed. */
  readonly auth: 'anonymous' | 'oauth' | 'iam';
  /** What every token must have. @default none */
  readonly scopes?: readonly string[];
  /** The longest ttl a client gets and the longest that work takes, in ms; see `limits.ttl.fetch`. */
  readonly maxTtl: number;
  readonly allowedOrigins: readonly string[];
  /** In ms; see `limits`. */
  readonly inlineWindow: number;
  readonly holdCap: number;
  /** Whether `get_task_result` and `cancel_task` are offered to clients that know no tasks. */
  readonly helperTools: boolean;
  /** Whether a 2025-11-25 session may open a stream by GET, for the questions of tasks that its client only polls. */
  readonly questionStream: boolean;
  /** How many unfinished tasks an owner (anonymous: a session) may have. */
  readonly maxOpenTasks: number;
  /** How many requests an owner (anonymous: a session) may keep waiting at once. */
  readonly maxStreams: number;
  readonly tools: readonly ToolEntry[];
}

/** An ajv standalone validator: compiled at synth, so that a call never compiles. */
export interface Validator {
  (value: unknown): boolean;
  errors?: readonly { readonly instancePath: string; readonly message?: string; readonly params?: object }[] | null;
}

/** In the order of `Manifest.tools`. */
export interface Validators {
  readonly inputs: readonly Validator[];
  /** Of structured content, where the tool has an outputSchema. */
  readonly outputs: readonly (Validator | undefined)[];
}
