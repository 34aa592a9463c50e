/**
 * What a tool function receives and may return: plain JSON, no library needed, any language
 * (docs/architecture/workflows.md, "Tools"). The same contract serves forbidden, optional and required tools.
 */

/** One question a tool asks the client, as both protocol revisions spell it: a method of the client and its params. */
export interface InputRequest {
  /** `elicitation/create`, `sampling/createMessage` or `roots/list`. @example 'elicitation/create' */
  readonly method: string;
  /**
   * Only `roots/list` may come without.
   * @default none
   * @example { message: 'Really?', requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } } }
   */
  readonly params?: Readonly<Record<string, unknown>>;
}

/** The client's answer to one question, e.g. `{ action: 'accept', content: {...} }` for an elicitation. */
export type InputResponse = Readonly<Record<string, unknown>>;

/** Where and for which task the function runs. Absent when the tool is invoked directly (`forbidden`). */
export interface TaskContext {
  readonly taskId: string;
  /** The owner of the task, as an opaque key, and the table of its record: only needed to report progress. */
  readonly owner: string;
  readonly table: string;
  /** The bucket for a result that is too large for its record. `defineTool` uses it by itself. */
  readonly results: string;
  /** 1, then +1 each time answered input restarts the work. `(taskId, round)` is a good idempotency key. */
  readonly round: number;
  /** 0 for the first try of this round, +1 for each retry by the workflow; on Express 0 also after a run was lost. */
  readonly attempt: number;
  /**
   * A name for this try where another run of the round may be, or have been, at the same attempt: on Express, and in a round whose
   * tool has left Express. Absent otherwise.
   */
  readonly run?: string;
  /** When unfinished work is given up, in milliseconds since the epoch. On Express the end of this run, if that is sooner. */
  readonly deadline: number;
  /** On Express: when the unfinished work of the task is given up. @default `deadline` */
  readonly taskDeadline?: number;
  /** The trace of the call that created the task, as W3C Trace Context writes it. Absent: the call named none. */
  readonly traceparent?: string;
  /** The version of the envelope that the caller accepts: 1. Absent: it accepts none. */
  readonly envelope?: number;
  /** The `maxTtl` of the server, in milliseconds, as text: files are listed for as long. Absent: as `signals`. */
  readonly maxTtl?: string;
  /** What the URLs of links and webhooks are made of (`waits/signal-url.ts`). Absent: the task began in an older release. */
  readonly signals?: SignalPlace;
}

export interface SignalPlace {
  /** `<public URL>/signals` */
  readonly url: string;
  /** A random text, which only the runs of the task get. */
  readonly key: string;
}

/** Who called the tool, as far as the server knows. */
export interface Caller {
  /** The `sub` of the token; with IAM the ARN of the user or of the role's session, or the id of the Cognito identity. */
  readonly subject?: string;
  /** The client that the token names (`client_id` or `azp`). */
  readonly client?: string;
  /** The claims of the token that `Auth.oauth({ callerClaims })` lists, of those that it has. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** What has come for a link or a webhook, or that its time is over. `at`: in milliseconds since the epoch. */
export type Signal =
  | { readonly timedOut: true }
  | {
      readonly action: 'accept' | 'decline' | 'cancel';
      readonly content?: Readonly<Record<string, unknown>>;
      /** Who answered, as they say. */
      readonly by?: string;
      readonly at: number;
    }
  | { readonly body: unknown; readonly at: number };

/** The event a tool function is invoked with. */
export interface ToolEvent<A = Record<string, unknown>> {
  /** The name the tool was registered under. */
  readonly name: string;
  /** Already validated against the tool's `inputSchema`. */
  readonly arguments: A;
  readonly task?: TaskContext;
  /**
   * What the caller can be asked for: `elicitation/create` (forms), `elicitation/create:url`, `sampling/createMessage`,
   * `roots/list`. Asking for anything else ends the task.
   */
  readonly accepts: readonly string[];
  /** Answers by the key the tool asked under; of a key asked twice, the latest. Empty in round 1. */
  readonly inputResponses: Readonly<Record<string, InputResponse>>;
  /** What the tool returned as `requestState` at the end of its last round; null in round 1. */
  readonly requestState: unknown;
  /** What has come for links and webhooks, by name of the wait. @default none */
  readonly signals?: Readonly<Record<string, Signal>>;
  /** At most 1 KB as JSON. Absent: the server does not know. */
  readonly caller?: Caller;
}

/** One content block of a CallToolResult: text, image, audio, resource or resource_link. */
export interface ContentBlock {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** The link to a file of the task. A client that reads it gets a URL that works for an hour. */
export interface FileLink extends ContentBlock {
  readonly type: 'resource_link';
  /** A placeholder: clients get `https://…`. */
  readonly uri: string;
  readonly name: string;
  readonly mimeType: string;
  /** In bytes. */
  readonly size: number;
  /** `mcp-task-server/sha256`: of the file, in hex. */
  readonly _meta: Readonly<Record<string, string>>;
}

/** A CallToolResult as both revisions define it. */
export interface ToolResult<Structured = unknown> {
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: Structured;
  readonly isError?: boolean;
}

/** Ends the round: the questions go to the client, and the answers start the next round. */
export interface InputRequired {
  readonly inputRequests: Readonly<Record<string, InputRequest>>;
  readonly requestState?: unknown;
}

/**
 * Ends the round, too: the next one starts when all waits of the round are over. In an envelope. `until`: the end of the wait, in
 * milliseconds since the epoch.
 *
 * - `time`: until this moment.
 * - `more`: the function has used up its time, and goes on at once in the next round.
 * - `link`: until a person has answered on a page of the server.
 * - `webhook`: until another system has sent something to a URL.
 */
export type Wait = { readonly kind: 'time' | 'link' | 'webhook'; readonly until: number } | { readonly kind: 'more' };

/**
 * What is stored of a wait before it begins, as JSON text in the entry `#wait#<name>` of the journal: so a signal that comes
 * early can be checked.
 */
export type StoredWait =
  | { readonly kind: 'time'; readonly until: number }
  | { readonly kind: 'link'; readonly until: number; readonly question: InputRequest }
  | { readonly kind: 'webhook'; readonly until: number; readonly schema?: Readonly<Record<string, unknown>> };

/**
 * What a function may return instead, if `task.envelope` is 1: the JSON as text, which is stored unchanged. Without an
 * envelope, the workflow writes the text and rounds numbers to 15 significant digits.
 */
export interface Envelope {
  readonly mcpTask: 1;
  /** JSON text of a ToolReturn. */
  readonly text: string;
  /** The text is a ToolResult with `isError: true`. @default false */
  readonly isError?: boolean;
  /** The text is an InputRequired. @default false */
  readonly asks?: boolean;
  /** What the round waits for, by names of 1 to 64 characters, at most 20. The text holds the `requestState`. @default none */
  readonly waits?: Readonly<Record<string, Wait>>;
}

/** Anything else a function returns (a string, any JSON) becomes text and, for objects, structuredContent. */
export type ToolReturn = ToolResult | InputRequired | string | number | boolean | null | object;
