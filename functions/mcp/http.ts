import type { Readable } from 'node:stream';

/** What the endpoint knows of HTTP: API Gateway and middy stay outside. Header names are lower case. */
export interface HttpRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
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

/** Whether an answer may be a stream: a client that accepts nothing in particular accepts both. */
export function acceptsStream(request: HttpRequest): boolean {
  const accept = header(request, 'accept') ?? '';
  return accept === '' || /\*\/\*|text\/(\*|event-stream)/i.test(accept);
}

/** As acceptsStream. */
export function acceptsJson(request: HttpRequest): boolean {
  const accept = header(request, 'accept') ?? '';
  return accept === '' || /\*\/\*|application\/(\*|json)/i.test(accept);
}

/** Outer spaces and tabs are not part of a value; absent and empty differ. */
export function header(request: HttpRequest, name: string): string | undefined {
  return request.headers[name]?.replace(/^[ \t]+|[ \t]+$/g, '');
}
