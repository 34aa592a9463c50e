import type { Engine } from '../tasks/engines.ts';

/** The name of the metadata of an endpoint that says what the operator's verbs have to know of its server. */
export const SERVER_MARK = 'mcp-task-server:server';
/** The logical ids of endpoints end in it: a list of resources shows no metadata. */
export const ENDPOINT_ID = /Endpoint[0-9A-F]{8}$/;

/** By logical ids of the same stack. */
export interface ServerMark {
  readonly table: string;
  readonly results: string;
  /** The API, and the part before `/mcp` of its URL, with `{api}` for the id of the API, `{region}`, and `{suffix}` of AWS's hosts. */
  readonly api?: string;
  readonly url?: string;
  /** The Standard workflow: the names of the others differ by their end, the engine. */
  readonly workflow: string;
  /** Queues of dead letters, by what could not be handled. */
  readonly deadLetters: Readonly<Record<string, string>>;
  /** Log groups of the server itself, by part. */
  readonly logs: Readonly<Record<string, string>>;
  readonly tools: Readonly<Record<string, ToolMark>>;
}

export interface ToolMark {
  /** What runs its tasks. Tools that never run as tasks have none. */
  readonly engine?: Engine;
  readonly stateMachine?: string;
  readonly handler?: string;
  /** The log group of its function, if that is known. */
  readonly logs?: string;
  /** Whether a run that may have had effects can be repeated. */
  readonly repeatable?: boolean;
  /** In ms, as `ttl`. */
  readonly timeout: number;
  readonly ttl?: number;
  readonly keepArguments?: boolean;
  /** It asks before it runs: its first run needs the answers. */
  readonly asksFirst?: boolean;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  readonly outputSchemaId?: string;
  readonly scopes?: readonly string[];
}
