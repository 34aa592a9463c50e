import type { Readable } from 'node:stream';
import { InvalidRequest } from '../../tasks/errors.ts';
import { errorMessage } from '../protocol/jsonrpc.ts';

/** A caller that API Gateway has verified. What a client says about itself does not count (G-14). */
export interface Caller {
  readonly key: string;
  /** The scopes of the token. */
  readonly scopes: readonly string[];
  /** What tools see of it: JSON text, as in a record. */
  readonly shown?: string;
}

/** An HTTP request, independent of API Gateway and middy. Header names are lower case, values are `trimmed`. */
export interface HttpRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Undefined if API Gateway does not verify callers. */
  readonly caller?: Caller;
}

export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Readable;
}

export function jsonReply(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): HttpReply {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}

/** The answer to what needs none: the only one without a body, as the protocol wants it. */
export const accepted = (): HttpReply => ({ status: 202, headers: {}, body: '' });

/** The answer to a method, or to a stream, that is not offered. A streamed answer without a body may end late on AWS. */
export function notOffered(): HttpReply {
  const { status, body } = errorMessage(undefined, new InvalidRequest('Only POST is offered here', 405));
  return jsonReply(status, body, { allow: 'POST' });
}

/** Whether the client accepts this type. Without an Accept header it accepts all. */
function accepts(request: HttpRequest, type: string): boolean {
  const accepted = (request.headers.accept ?? '').toLowerCase().split(',');
  const ranges = accepted.map((range) => range.split(';')[0]?.trim() ?? '').filter((range) => range !== '');
  return ranges.length === 0 || ['*/*', `${type.split('/')[0]}/*`, type].some((range) => ranges.includes(range));
}

export const acceptsStream = (request: HttpRequest): boolean => accepts(request, 'text/event-stream');
export const acceptsJson = (request: HttpRequest): boolean => accepts(request, 'application/json');

/** The value of a header without outer spaces and tabs. */
export function trimmed(value: string): string {
  // No regular expression: one that ends in `$` takes quadratic time on inner blanks.
  const isBlank = (at: number) => value[at] === ' ' || value[at] === '\t';
  let [from, to] = [0, value.length];
  while (from < to && isBlank(from)) from++;
  while (to > from && isBlank(to - 1)) to--;
  return value.slice(from, to);
}
