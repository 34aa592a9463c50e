import type { Engine } from '../tasks/engines.ts';
import type { InputRequest } from '../tasks/tool-contract.ts';

// The endpoint's knowledge of its tools. It is made at synth and lies beside the code.

export type TaskSupport = 'forbidden' | 'optional' | 'required';
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A header that carries one argument: a property marked `x-mcp-header` (D-07, D-08). */
export interface ParamHeader {
  /** Name without the `Mcp-Param-` prefix. */
  readonly header: string;
  /** Path of the argument: property names from the root. */
  readonly path: readonly string[];
  readonly type: 'string' | 'integer' | 'boolean';
}

export interface ToolEntry {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  /** Identifies this outputSchema. A task's result is only checked against the schema that held when it was created. */
  readonly outputSchemaId?: string;
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly taskSupport: TaskSupport;
  /** The longest time one task may work, in ms. */
  readonly timeout: number;
  /** Fixed poll interval, in ms. */
  readonly pollInterval?: number;
  /** How long a task usually takes, in ms. Sets the poll interval if that is not fixed. */
  readonly expectedDuration?: number;
  /** How long a task can be read, in ms, if the client asks for no ttl. */
  readonly ttl?: number;
  /** What runs its tasks. Forbidden tools have none. */
  readonly engine?: Engine;
  /** Forbidden tools: index into the TOOL_FUNCTIONS variable. */
  readonly function?: number;
  /** Tools that are state machines: index into the TOOL_MACHINES variable. */
  readonly stateMachine?: number;
  /** What a caller's token must allow. @default what every call needs */
  readonly scopes?: readonly string[];
  readonly headers?: readonly ParamHeader[];
  /** Questions to ask before the tool runs, by the tool's names for them. */
  readonly askFirst?: Readonly<Record<string, InputRequest>>;
  /** Keeps the arguments of a task past its end. */
  readonly keepArguments?: boolean;
  /** Its events have a line of its result, or of its question. */
  readonly eventSummary?: boolean;
  /** Stores files. */
  readonly files?: boolean;
  /** What a host may show its model while the task runs (C-13). */
  readonly immediateResponse?: string;
}

/** Whether the tool may run again after a run that perhaps happened. Its author says so. */
export const isRepeatable = ({ annotations = {} }: Pick<ToolEntry, 'annotations'>): boolean =>
  annotations.readOnlyHint === true || annotations.idempotentHint === true;

/** Whether a tool of the server has files: only then it announces resources. */
export const hasFiles = ({ tools }: Pick<Manifest, 'tools'>): boolean => tools.some(({ files }) => files === true);

export interface Manifest {
  readonly serverInfo: { readonly name: string; readonly version: string; readonly title?: string };
  readonly instructions?: string;
  /** How API Gateway verifies callers: not at all, by tokens, or by AWS signatures. */
  readonly auth: 'anonymous' | 'oauth' | 'iam';
  /** Scopes that every token must have. @default none */
  readonly scopes?: readonly string[];
  /** The longest ttl that a client gets, and the longest time that work may take, in ms. See `limits.ttl.fetch`. */
  readonly maxTtl: number;
  readonly allowedOrigins: readonly string[];
  /** In ms; see `limits`. */
  readonly inlineWindow: number;
  readonly holdCap: number;
  /** Whether clients without tasks get the tools `get_task_result` and `cancel_task`. */
  readonly helperTools: boolean;
  /** Whether a 2025-11-25 session may open a stream by GET, for questions of tasks that the client only polls. */
  readonly questionStream: boolean;
  /** How many unfinished tasks an owner (anonymous: a session) may have. */
  readonly maxOpenTasks: number;
  /** How many requests of an owner (anonymous: a session) may wait at once. */
  readonly maxStreams: number;
  /** The part before `/mcp` of the URL that clients use. @default as API Gateway says of a request */
  readonly publicUrl?: string;
  readonly tools: readonly ToolEntry[];
  /** Whether the server has MCP Events. @default it has none */
  readonly events?: true;
}

/** An ajv standalone validator, compiled at synth. */
export interface Validator {
  (value: unknown): boolean;
  errors?: readonly { readonly instancePath: string; readonly message?: string; readonly params?: object }[] | null;
}

/** In the order of `Manifest.tools`. */
export interface Validators {
  readonly inputs: readonly Validator[];
  /** Of structured content. Undefined if the tool has no outputSchema. */
  readonly outputs: readonly (Validator | undefined)[];
}
