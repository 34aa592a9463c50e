import type { FromSchema, JSONSchema } from 'json-schema-to-ts';
import type { ToolResult } from './contract.ts';

/** What a Standard Schema library (zod, valibot, arktype, …) gives: standardschema.dev, version 1. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardOutcome<Output> | Promise<StandardOutcome<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

type StandardOutcome<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[] };

export type InputSchema = JSONSchema | StandardSchema;
export type OutputSchema = JSONSchema | undefined;

/** A tool as its author describes it: goes to `addTool` as it is, and gives `defineTool` its types. */
export interface ToolDefinition<I = InputSchema, O = OutputSchema> {
  readonly description: string;
  readonly title?: string;
  /** JSON Schema of the arguments, or a Standard Schema that can tell its JSON Schema (zod 4.2 and others). */
  readonly inputSchema: I;
  /** JSON Schema of what the tool returns as structured content. @default none */
  readonly outputSchema?: O;
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly taskSupport?: 'forbidden' | 'optional' | 'required';
}

/** The arguments a run gets, inferred from the schema: no annotation needed. */
export type ArgumentsOf<S> =
  S extends StandardSchema<infer _Input, infer Output> ? Output : S extends JSONSchema ? FromSchema<S> : never;

/** With an outputSchema a run returns what fits it, or a whole CallToolResult; without one, any JSON. */
export type ReturnOf<O> = O extends JSONSchema ? FromSchema<O> | ToolResult : unknown;

export function isStandardSchema(schema: unknown): schema is StandardSchema {
  return typeof schema === 'object' && schema !== null && '~standard' in schema;
}
