import type { Duration } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { JsonSchema, TaskSupport } from '../functions/mcp/manifest.ts';
import type { InputRequest } from '../functions/tool/contract.ts';

/** A tool: a Lambda function in any language that keeps the contract of `functions/tool/contract.ts`. */
export interface ToolProps {
  /** Invoked with a `ToolEvent`; returns a CallToolResult, any JSON, or questions for the client. */
  readonly handler: IFunction;
  /** What the tool does, for the model that chooses it. */
  readonly description: string;
  /** A name for people. @default none */
  readonly title?: string;
  /** JSON Schema 2020-12 (or draft-07 by `$schema`) of the arguments; its type must be `object`. */
  readonly inputSchema: JsonSchema;
  /** JSON Schema of `structuredContent`. @default none */
  readonly outputSchema?: JsonSchema;
  /**
   * MCP tool annotations. `readOnlyHint` or `idempotentHint` also allow the workflow to retry a run that may already
   * have done something. @default none: side effects happen at most once
   */
  readonly annotations?: Readonly<Record<string, unknown>>;
  /**
   * `forbidden`: invoked directly, never a task. `optional`: a task when the caller asks for one, otherwise the
   * endpoint waits for the result. `required`: always a task. @default 'forbidden'
   */
  readonly taskSupport?: TaskSupport;
  /**
   * How long one task may work before it fails, all input rounds together; how long a direct call may take.
   * @default 15 minutes; 50 seconds (also the most) for `forbidden`
   */
  readonly timeout?: Duration;
  /** How often clients should poll. @default adaptive: 15 % of the task's age, from 1 to 30 seconds */
  readonly pollInterval?: Duration;
  /** How long a task can be read when the client asks for no ttl. @default 1 hour */
  readonly ttl?: Duration;
  /**
   * Questions to ask before the tool runs, by names of yours: the answers are there in its first run, as
   * `inputResponses`. In 2026-07-28 they are asked before the task exists. @default none
   */
  readonly askFirst?: Readonly<Record<string, InputRequest>>;
  /** What a host may tell its model while the task runs. @default a sentence that names the tool and the task */
  readonly immediateResponse?: string;
}
