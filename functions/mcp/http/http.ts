import type { Readable } from 'node:stream';

/** A caller the front door has verified: nothing the client says of itself counts (G-14). */
export interface Caller {
  readonly key: string;
  /** Those of the token. */
  readonly scopes: readonly string[];
}

/** What the endpoint knows of HTTP: API Gateway and middy stay outside. Header names are lower case. */
export interface HttpRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whom the front door has verified, where it does. */
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

export function emptyReply(status: number, headers: Readonly<Record<string, string>> = {}): HttpReply {
  return { status, headers, body: '' };
}

/** Whether an answer may be of this type; a client that accepts nothing in particular accepts all. */
function accepts(request: HttpRequest, type: string): boolean {
  const accepted = (header(request, 'accept') ?? '').toLowerCase().split(',');
  const ranges = accepted.map((range) => range.split(';')[0]?.trim() ?? '').filter((range) => range !== '');
  return ranges.length === 0 || ['*/*', `${type.split('/')[0]}/*`, type].some((range) => ranges.includes(range));
}

export const acceptsStream = (request: HttpRequest): boolean => accepts(request, 'text/event-stream');
export const acceptsJson = (request: HttpRequest): boolean => accepts(request, 'application/json');

/** Outer spaces and tabs are not part of a value; absent and empty differ. */
export function header(request: HttpRequest, name: string): string | undefined {
  const value = request.headers[name];
  if (value === undefined) return undefined;
  // Not by a pattern: one that ends in `$` takes time by the square of the blanks within.
  const isBlank = (at: number) => value[at] === ' ' || value[at] === '\t';
  let [from, to] = [0, value.length];
  while (from < to && isBlank(from)) from++;
  while (to > from && isBlank(to - 1)) to--;
  return value.slice(from, to);
}
