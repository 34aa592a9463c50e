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

/** Outer spaces and tabs are not part of a value; absent and empty differ. */
export function header(request: HttpRequest, name: string): string | undefined {
  return request.headers[name]?.replace(/^[ \t]+|[ \t]+$/g, '');
}
