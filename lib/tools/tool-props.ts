import type { Duration } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IStateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import type { JsonSchema, TaskSupport } from '../../functions/mcp/manifest.ts';
import type { InputRequest } from '../../functions/tasks/tool-contract.ts';

/** A tool: a function or a state machine that follows the contract in `functions/tasks/tool-contract.ts`. */
export type ToolProps = FunctionToolProps | StateMachineToolProps;

/** A tool that is a Lambda function, in any language. */
export interface FunctionToolProps extends AnyToolProps {
  /**
   * The function. It gets a `ToolEvent` and returns a CallToolResult, any JSON, or questions for the client.
   * @example new ToolFunction(this, 'Render', { entry: 'functions/render.ts' })
   */
  readonly handler: IFunction;
  readonly stateMachine?: never;
  /**
   * Whether a call becomes a task. `forbidden`: never, the function is invoked directly. `optional`: if the caller asks for
   * one, otherwise the endpoint waits for the result. `required`: always. @default 'forbidden'
   * @example 'optional'
   */
  readonly taskSupport?: TaskSupport;
  /**
   * The kind of Step Functions state machine that runs it. `express` costs about half, and is for tools that may run more
   * than once (`readOnlyHint` or `idempotentHint`) and whose function takes 4 minutes at most. A task that asks people may
   * take longer: each round is one run. A run can be neither stopped nor inspected, and a run that died starts again within
   * 8 minutes (docs/crash-table.md, "On Express"). @default 'standard'
   * @example 'express'
   */
  readonly engine?: 'standard' | 'express';
}

/**
 * A tool that is a state machine: its execution is the work of the task, the names of its states are the task's
 * progress, and cancelling the task stops it.
 */
export interface StateMachineToolProps extends AnyToolProps {
  /**
   * A standard state machine, in the account and region of the server. Its input is a `ToolEvent`; its output is the same
   * as a function's. Arguments and output together may take 256 KiB, with their escapes. If it fails, the client sees the
   * name of the error and not the cause.
   * @example new StateMachine(this, 'Import', { definitionBody: DefinitionBody.fromFile('import.asl.json') })
   */
  readonly stateMachine: IStateMachine;
  readonly handler?: never;
  /** Always a standard workflow. @default 'standard' @example 'standard' */
  readonly engine?: 'standard';
  /**
   * Whether a call becomes a task. Not `forbidden`: a state machine cannot be invoked directly.
   * @default 'optional'
   * @example 'required'
   */
  readonly taskSupport?: Exclude<TaskSupport, 'forbidden'>;
}

/** The options of all tools. */
interface AnyToolProps {
  /** The description for the model that chooses the tool: what it does. @example 'Renders the report of a month' */
  readonly description: string;
  /** A name for people. @default none @example 'Monthly report' */
  readonly title?: string;
  /**
   * JSON Schema 2020-12 (or draft-07 by `$schema`) of the arguments; its type must be `object`.
   * @example { type: 'object', properties: { month: { type: 'string' } }, required: ['month'] }
   */
  readonly inputSchema: JsonSchema;
  /**
   * JSON Schema of `structuredContent`.
   * @default none
   * @example { type: 'object', properties: { pages: { type: 'integer' } } }
   */
  readonly outputSchema?: JsonSchema;
  /**
   * MCP tool annotations. `readOnlyHint` or `idempotentHint` also allow the workflow to retry a run that may have had
   * side effects. @default none: side effects happen at most once
   * @example { readOnlyHint: true }
   */
  readonly annotations?: Readonly<Record<string, unknown>>;
  /**
   * How long one task may take before it fails, with all its rounds and waits, or how long a direct call may take. At most the
   * server's `maxTtl`, 365 days for a state machine. One run of a function has the timeout of that function.
   * @default 15 minutes; 50 seconds (also the most) for `forbidden`
   * @example Duration.hours(1)
   */
  readonly timeout?: Duration;
  /** How often clients should poll. @default by `expectedDuration` @example Duration.seconds(5) */
  readonly pollInterval?: Duration;
  /**
   * How long a task usually takes: clients then poll every second (under 10 seconds), 3 seconds (under a minute), 5
   * seconds (up to 10 minutes) or 10 to 30 seconds, and less often if a task takes longer than expected.
   * @default unknown: 15 % of the task's age, from 1 to 30 seconds
   * @example Duration.minutes(2)
   */
  readonly expectedDuration?: Duration;
  /**
   * How long a task can be read if the client asks for no ttl. At least 5 minutes longer than its timeout.
   * @default 1 hour, or 1 hour more than a longer timeout
   * @example Duration.hours(6)
   */
  readonly ttl?: Duration;
  /**
   * Questions that are asked before the tool runs, by your names for them. Its first run gets the answers as
   * `inputResponses`. In 2026-07-28 they are asked before the task exists. @default none
   * @example { sure: elicitForm('Really?', { ok: { type: 'boolean' } }) }
   */
  readonly askFirst?: Readonly<Record<string, InputRequest>>;
  /**
   * Scopes that the token of a caller needs, in addition to the scopes of every call; `tasks` covers `tasks:write`. They
   * count for calls of the tool and for its tasks: a request without them is refused before it has any effect, and the
   * error names them. With the scopes of every call they may have 512 characters. With scopes, the authorizer runs for each
   * request. Needs `oauth`. @default none
   * @example ['reports:write']
   */
  readonly scopes?: readonly string[];
  /**
   * Keeps the arguments of a task in its record after its end, up to 1,500 bytes, so that an operator can run it again even if
   * its run never began. Step Functions keeps the arguments of a run for 90 days anyway. @default false
   * @example true
   */
  readonly keepArguments?: boolean;
  /**
   * Adds one line to the MCP events of its tasks, up to 200 bytes: the first text of the result, why the task failed, or what it asks
   * first. Receivers of the events read it, and the log of the owner keeps it for at least 15 days. @default false
   * @example true
   */
  readonly eventSummary?: boolean;
  /**
   * Lets the function store files beside its tasks (`task.file`): the server then has resources. Needs a function that may run as a task. @default false
   * @example true
   */
  readonly files?: boolean;
  /**
   * A text for the model while the task runs.
   * @default a sentence that names the tool and the task
   * @example 'The report takes two minutes. Tell the user, and go on.'
   */
  readonly immediateResponse?: string;
}
