import { InternalError, InvalidRequest, McpError, ParseError, Unavailable } from '../../tasks/errors.ts';
import { limits } from '../../tasks/limits.ts';
import { isObject } from '../../tasks/shape.ts';
import { isOutage } from './aws-outage.ts';

export type RequestId = string | number;
export type Params = Readonly<Record<string, unknown>>;

export interface RpcRequest {
  readonly kind: 'request';
  readonly id: RequestId;
  readonly method: string;
  readonly params: Params;
  /** Path of an integer that JSON.parse has rounded, e.g. `params.arguments.account`. */
  readonly rounded?: string;
}

export interface RpcNotification {
  readonly kind: 'notification';
  readonly method: string;
  readonly params: Params;
}

/** The client's answer to a request of the server. */
export interface RpcResponse {
  readonly kind: 'response';
  readonly id: unknown;
  /** Absent when the client answered with an error. */
  readonly result: unknown;
  /** As in a request. */
  readonly rounded?: string;
}

export type RpcMessage = RpcRequest | RpcNotification | RpcResponse;

/** A message that is not a valid request, notification or response. */
export class UnreadableMessage extends Error {
  readonly reason: McpError;
  /** The id to answer with, if it was readable. */
  readonly id: RequestId | undefined;

  constructor(reason: McpError, id?: RequestId) {
    super(reason.message);
    this.reason = reason;
    this.id = id;
  }
}

/** Ladder rows 5 to 7 (docs/protocol.md 1.1). Throws UnreadableMessage. */
export function parseMessage(body: string): RpcMessage {
  let message: unknown;
  try {
    message = JSON.parse(body);
  } catch {
    throw new UnreadableMessage(new ParseError());
  }
  if (Array.isArray(message))
    throw new UnreadableMessage(new InvalidRequest('Batches are not supported: send one message'));
  if (!isObject(message)) throw new UnreadableMessage(new InvalidRequest('A message is a JSON object'));
  const id = isId(message.id) ? message.id : undefined;
  const refuse = (problem: string) => new UnreadableMessage(new InvalidRequest(problem), id);
  if (message.jsonrpc !== '2.0') throw refuse(`jsonrpc must be '2.0'`);
  const problem = jsonProblem(message, limits.jsonDepth);
  if (problem !== undefined) throw refuse(problem);
  const at = roundedInteger(message, body);
  const rounded = at === undefined ? {} : { rounded: at };
  if (message.method === undefined && ('result' in message || 'error' in message)) {
    return { kind: 'response', id: message.id, result: message.result, ...rounded };
  }
  if (typeof message.method !== 'string') throw refuse('method must be a string');
  if (message.params !== undefined && !isObject(message.params)) throw refuse('params must be an object');
  const params = message.params ?? {};
  if (!('id' in message)) return { kind: 'notification', method: message.method, params };
  if (id === undefined) throw refuse('id must be a string or an integer');
  if (typeof id === 'string' && Buffer.byteLength(id) > limits.requestId) {
    throw refuse(`id may take ${limits.requestId} bytes at most`);
  }
  return { kind: 'request', id, method: message.method, params, ...rounded };
}

/** A rounded number is refused: the tool would work on a wrong number, and two different calls would look the same. */
export function roundedProblem(at: string): string {
  return `${at} is an integer beyond 2^53 - 1, which would be rounded: make it smaller, or a string`;
}

export function resultMessage(id: RequestId, result: object): object {
  return { jsonrpc: '2.0', id, result };
}

/** An error other than McpError is a bug or an outage. The client learns only which of the two. */
export function errorMessage(id: RequestId | undefined, error: unknown): { status: number; body: object } {
  const known = error instanceof McpError ? error : isOutage(error) ? new Unavailable() : new InternalError();
  const { code, message, data } = known;
  return {
    status: known.httpStatus,
    body: {
      jsonrpc: '2.0',
      ...(id !== undefined && { id }),
      error: { code, message, ...(data !== undefined && { data }) },
    },
  };
}

function isId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

/** Why this server cannot handle a message that is valid JSON. */
function jsonProblem(value: unknown, left: number): string | undefined {
  if (typeof value === 'number' && !Number.isFinite(value)) return 'The message holds a number that is too large';
  if (typeof value !== 'object' || value === null) return undefined;
  if (left === 0) return `The message is nested deeper than ${limits.jsonDepth} levels`;
  for (const inner of Object.values(value)) {
    const problem = jsonProblem(inner, left - 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** A large integer in JSON text; not `1e20`. It also matches inside strings: `roundedInteger` compares values. */
const LARGE_INTEGER = /(?<=[[:,\s])-?\d{16,}(?=(?:\.0*)?\s*[,}\]])/g;

/** Path of the first integer that JSON.parse has rounded. */
function roundedInteger(message: object, body: string): string | undefined {
  const written = new Set(body.match(LARGE_INTEGER)?.map(Number));
  const find = (value: unknown, path: string): string | undefined => {
    if (typeof value === 'number') return written.has(value) && !Number.isSafeInteger(value) ? path : undefined;
    if (typeof value !== 'object' || value === null) return undefined;
    for (const [name, inner] of Object.entries(value)) {
      const found = find(inner, path === '' ? name : `${path}.${name.slice(0, 100)}`);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return written.size === 0 ? undefined : find(message, '');
}
