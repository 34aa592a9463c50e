import type { EngineContext } from '../engine/ports.ts';
import type { Audit } from '../tasks/audit.ts';
import type { ExecutionState } from '../tasks/aws/execution-history.ts';
import type { FileReads } from '../tasks/aws/s3-files.ts';
import type { FileStore } from '../tasks/files/file-items.ts';
import type { Principal } from '../tasks/ids.ts';
import type { TaskRecord } from '../tasks/record.ts';
import type { ResultStore } from '../tasks/results/result-store.ts';
import type { TaskStore } from '../tasks/table/store.ts';
import type { HttpRequest } from './http/http.ts';
import type { EventStream } from './http/sse.ts';
import type { Signer } from './identity/signing.ts';
import type { Manifest, ToolEntry, Validator } from './manifest.ts';
import type { Params, RequestId } from './protocol/jsonrpc.ts';
import type { PollLimit } from './read/poll-limit.ts';
import type { ModernWire, Wire } from './wire/wire.ts';

export interface Tool {
  readonly entry: ToolEntry;
  readonly validate: Validator;
  /** Checks structured content. Undefined if the tool has no outputSchema. */
  readonly validateOutput: Validator | undefined;
}

/** What a method needs besides its call. A test can replace each member. */
export interface ServerContext extends EngineContext {
  readonly manifest: Manifest;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly store: TaskStore;
  readonly audit: Audit;
  /** Results that are too large for the table. */
  readonly results: Pick<ResultStore, 'get'>;
  /** Invokes a forbidden tool. Returns its JSON text, or the name of the error that ended it, such as `timeout`. */
  readonly invoke: (tool: ToolEntry, event: string) => Promise<{ readonly text: string } | { readonly error: string }>;
  /** The state that a task's state machine is in, if known. `stateMachine`: as in the tool's entry. */
  readonly currentState: (record: TaskRecord, stateMachine: number) => Promise<ExecutionState | undefined>;
  readonly signer: Signer;
  readonly files: FileReads & Pick<FileStore, 'listFiles'>;
  /** The part before `/mcp` of the URL of this request. */
  readonly url: string;
  readonly pollLimit: PollLimit;
  /** MCP Events. @default the server has none */
  readonly events?: ServerEvents | undefined;
  readonly sleep: (ms: number) => Promise<void>;
}

/** One parsed request: its revision, its sender, and what its client can do. */
export interface Call<W extends Wire = Wire> {
  readonly wire: W;
  readonly version: string;
  readonly id: RequestId;
  readonly method: string;
  readonly params: Params;
  readonly principal: Principal;
  /** The key of the 2025-11-25 session, if the request has one. */
  readonly session?: string;
  /** The kinds of input the client declared, e.g. `elicitation/create`, `elicitation/create:url`. */
  readonly accepts: readonly string[];
  /** 2026-07-28: this request declares the tasks extension (E-02). 2025-11-25: the revision has tasks (C-03). */
  readonly tasks: boolean;
  readonly request: HttpRequest;
  /** A method adds headers of the reply here. */
  readonly replyHeaders: Record<string, string>;
}

export type ModernCall = Call<ModernWire>;

/** What a server with MCP Events does beside the rest. */
export interface ServerEvents {
  /** More methods of 2026-07-28. */
  readonly methods: ReadonlyMap<string, Method>;
  /** Notes that a caller has sent a request. */
  readonly seen: (principal: Principal, method: string) => Promise<void>;
}

/** Returns a result, or a stream whose last message is the answer. Throws McpError. */
export type Method<C extends Call = Call> = (call: C, server: ServerContext) => Promise<object | EventStream>;
