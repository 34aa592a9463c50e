import { InternalError, InvalidRequest, McpError, ParseError } from '../tasks/errors.ts';
import { limits } from '../tasks/limits.ts';

export type RequestId = string | number;
export type Params = Readonly<Record<string, unknown>>;

export interface RpcRequest {
  readonly kind: 'request';
  readonly id: RequestId;
  readonly method: string;
  readonly params: Params;
}

export interface RpcNotification {
  readonly kind: 'notification';
  readonly method: string;
  readonly params: Params;
}

/** The client's answer to a request of ours. */
export interface RpcResponse {
  readonly kind: 'response';
  readonly id: unknown;
}

export type RpcMessage = RpcRequest | RpcNotification | RpcResponse;

/** The id to answer a message with that could not be understood: only if it was readable. */
export class UnreadableMessage extends Error {
  readonly reason: McpError;
  readonly id: RequestId | undefined;

  constructor(reason: McpError, id?: RequestId) {
    super(reason.message);
    this.reason = reason;
    this.id = id;
  }
}

/** Ladder rows 5 to 7 (requirements 1.1). Throws UnreadableMessage. */
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
  if (tooDeep(message, limits.jsonDepth)) throw refuse(`The message is nested deeper than ${limits.jsonDepth} levels`);
  if (message.method === undefined && ('result' in message || 'error' in message)) {
    return { kind: 'response', id: message.id };
  }
  if (typeof message.method !== 'string') throw refuse('method must be a string');
  if (message.params !== undefined && !isObject(message.params)) throw refuse('params must be an object');
  const params = message.params ?? {};
  if (!('id' in message)) return { kind: 'notification', method: message.method, params };
  if (id === undefined) throw refuse('id must be a string or an integer');
  return { kind: 'request', id, method: message.method, params };
}

export function resultMessage(id: RequestId, result: object): object {
  return { jsonrpc: '2.0', id, result };
}

/** Anything but our own errors is a bug or an outage: said so, and nothing more. */
export function errorMessage(id: RequestId | undefined, error: unknown): { status: number; body: object } {
  const known = error instanceof McpError ? error : new InternalError();
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

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

function tooDeep(value: unknown, left: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return left === 0 || Object.values(value).some((inner) => tooDeep(inner, left - 1));
}
