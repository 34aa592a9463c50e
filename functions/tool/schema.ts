import type { FromSchema, JSONSchema } from 'json-schema-to-ts';
import type { ToolResult } from '../tasks/tool-contract.ts';

/** The interface of Standard Schema libraries (zod, valibot, arktype, …): standardschema.dev, version 1. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardOutcome<Output> | Promise<StandardOutcome<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** Writes the schema as JSON Schema, for its input and its output, in libraries that can. */
    readonly jsonSchema?: { readonly input: WriteSchema; readonly output: WriteSchema };
  };
}

type StandardOutcome<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type TaskSupport = 'forbidden' | 'optional' | 'required';
type Schema = Record<string, unknown>;
type WriteSchema = (options: { readonly target: 'draft-2020-12' }) => Schema;
/** An option for types: an argument with a default may be missing, as the server does not fill it in. */
type Given = { keepDefaultedPropertiesOptional: true };

export type InputSchema = JSONSchema | StandardSchema;
export type OutputSchema = JSONSchema | StandardSchema | undefined;

/** A tool as its author describes it. `defineTool` takes its types from here. */
export interface ToolDefinition<I = InputSchema, O = OutputSchema, S = TaskSupport> {
  /** The description for the model that chooses the tool: what it does. @example 'Counts the words of a text' */
  readonly description: string;
  /** A name for people. @default none @example 'Word count' */
  readonly title?: string;
  /**
   * JSON Schema of the arguments, or a Standard Schema that can write one (zod 4.2 and others).
   * @example { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
   */
  readonly inputSchema: I;
  /**
   * JSON Schema of the tool's structured content, or a Standard Schema that can write one. A Standard Schema checks the
   * returned value, and the client gets the output of the schema. @default none
   * @example z.object({ words: z.int() })
   */
  readonly outputSchema?: O;
  /** MCP tool annotations, as in `addTool`. @default none @example { readOnlyHint: true } */
  readonly annotations?: Readonly<Record<string, unknown>>;
  /** Whether a call becomes a task, as in `addTool`. @default 'forbidden' @example 'optional' */
  readonly taskSupport?: S;
  /** Lets the tool store files (`task.file`), as in `addTool`. @default false @example true */
  readonly files?: boolean;
  /** Adds one line of the result, or of the question, to the MCP events of its tasks, as in `addTool`. @default false @example true */
  readonly eventSummary?: boolean;
}

/** The options for `addTool`, without the function. */
export interface ToolRegistration<S = TaskSupport>
  extends Omit<ToolDefinition<InputSchema, OutputSchema, S>, 'inputSchema' | 'outputSchema'> {
  /** JSON Schema of the arguments. @example { type: 'object', properties: { text: { type: 'string' } } } */
  readonly inputSchema: Readonly<Schema>;
  /** JSON Schema of the structured content. @default none @example { type: 'object', properties: { words: { type: 'integer' } } } */
  readonly outputSchema?: Readonly<Schema>;
}

/** The arguments a run gets, inferred from the schema: no annotation needed. */
export type ArgumentsOf<S> =
  S extends StandardSchema<infer _Input, infer Output> ? Output : S extends JSONSchema ? FromSchema<S, Given> : never;

/** The arguments a client sends. A Standard Schema may change them before the run gets them. */
export type InputOf<S> = S extends StandardSchema<infer Input> ? Input : ArgumentsOf<S>;

/** Structured content that fits the outputSchema. */
export type OutputOf<O> =
  O extends StandardSchema<infer _Input, infer Output> ? Output : O extends JSONSchema ? FromSchema<O, Given> : unknown;

/** The value that a run returns: structured content or a CallToolResult with an outputSchema, any JSON without one. */
export type ReturnOf<O> = O extends InputSchema ? InputOf<O> | ToolResult<InputOf<O>> : unknown;

/** Makes the options for `addTool`. Throws an error with the name of the field that cannot be written as JSON Schema. */
export function registrationOf({ inputSchema, outputSchema, ...rest }: ToolDefinition): ToolRegistration {
  return {
    ...rest,
    inputSchema: jsonSchemaOf('inputSchema', inputSchema, 'input'),
    ...(outputSchema !== undefined && { outputSchema: jsonSchemaOf('outputSchema', outputSchema, 'output') }),
  };
}

/** Throws an error that names the field, if it cannot be written as JSON Schema. */
export function jsonSchemaOf(field: string, schema: InputSchema, side: 'input' | 'output'): Schema {
  if (!isStandardSchema(schema)) return schema as Schema;
  const { vendor, jsonSchema } = schema['~standard'];
  if (jsonSchema === undefined) {
    throw new Error(`${field}: ${vendor} cannot write a JSON Schema: register the tool with your own ${field}`);
  }
  try {
    return jsonSchema[side]({ target: 'draft-2020-12' });
  } catch (error) {
    throw new Error(`${field}: ${vendor} cannot write it as JSON Schema: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

export function isStandardSchema(schema: unknown): schema is StandardSchema {
  return typeof schema === 'object' && schema !== null && '~standard' in schema;
}

/** Parses a value by the schema, which may add defaults and transform it. Throws the error that `fail` makes of problems. */
export async function parsedBy(
  schema: StandardSchema,
  value: unknown,
  fail: (problems: string) => Error,
): Promise<unknown> {
  const outcome = await schema['~standard'].validate(value);
  if (outcome.issues === undefined) return outcome.value;
  throw fail(outcome.issues.map(problemOf).join('; '));
}

function problemOf({ path = [], message }: StandardIssue): string {
  const names = path.map((step) => String(typeof step === 'object' ? step.key : step));
  return names.length === 0 ? message : `${names.join('.')}: ${message}`;
}
