import type { FromSchema, JSONSchema } from 'json-schema-to-ts';
import type { ToolResult } from '../tasks/tool-contract.ts';

/** What a Standard Schema library (zod, valibot, arktype, …) gives: standardschema.dev, version 1. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardOutcome<Output> | Promise<StandardOutcome<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** In libraries that can write a schema as JSON Schema. */
    readonly jsonSchema?: { readonly input: (options: { readonly target: 'draft-2020-12' }) => Schema };
  };
}

type StandardOutcome<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[] };

type Schema = Record<string, unknown>;
/** An argument with a default may be missing: the server does not fill it in. */
type Given = { keepDefaultedPropertiesOptional: true };

export type InputSchema = JSONSchema | StandardSchema;
export type OutputSchema = JSONSchema | undefined;

/** A tool as its author describes it. `defineTool` takes its types from here. */
export interface ToolDefinition<I = InputSchema, O = OutputSchema> {
  readonly description: string;
  readonly title?: string;
  /** JSON Schema of the arguments, or a Standard Schema that can write one (zod 4.2 and others). */
  readonly inputSchema: I;
  /** JSON Schema of what the tool returns as structured content. @default none */
  readonly outputSchema?: O;
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly taskSupport?: 'forbidden' | 'optional' | 'required';
}

/** The same for `addTool`, without the function. */
export interface ToolRegistration extends Omit<ToolDefinition, 'inputSchema' | 'outputSchema'> {
  readonly inputSchema: Readonly<Schema>;
  readonly outputSchema?: Readonly<Schema>;
}

/** The arguments a run gets, inferred from the schema: no annotation needed. */
export type ArgumentsOf<S> =
  S extends StandardSchema<infer _Input, infer Output> ? Output : S extends JSONSchema ? FromSchema<S, Given> : never;

/** The arguments a client sends. A Standard Schema may change them before the run gets them. */
export type InputOf<S> = S extends StandardSchema<infer Input> ? Input : ArgumentsOf<S>;

/** What fits the outputSchema: structured content. */
export type OutputOf<O> = O extends JSONSchema ? FromSchema<O, Given> : unknown;

/** With an outputSchema a run returns what fits it, or a whole CallToolResult; without one, any JSON. */
export type ReturnOf<O> = O extends JSONSchema ? OutputOf<O> | ToolResult<OutputOf<O>> : unknown;

/** Throws if the schema cannot be written as JSON Schema. */
export function registrationOf({ inputSchema, ...rest }: ToolDefinition): ToolRegistration {
  return { ...(rest as Omit<ToolRegistration, 'inputSchema'>), inputSchema: jsonSchemaOf(inputSchema) };
}

function jsonSchemaOf(schema: InputSchema): Schema {
  if (!isStandardSchema(schema)) return schema as Schema;
  const { vendor, jsonSchema } = schema['~standard'];
  if (jsonSchema !== undefined) return jsonSchema.input({ target: 'draft-2020-12' });
  throw new Error(`${vendor} does not tell its JSON Schema: register the tool with an inputSchema of your own`);
}

export function isStandardSchema(schema: unknown): schema is StandardSchema {
  return typeof schema === 'object' && schema !== null && '~standard' in schema;
}
