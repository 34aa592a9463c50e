import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** A token for URLs: 256 random bits. */
export const newToken = (): string => randomBytes(32).toString('base64url');

/** Compares in constant time, for any lengths. */
export function isToken(given: string | undefined, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given ?? ''), digest(token));
}

/** The header of the token, on every request that acts: no other site can make a browser send it. */
export const TOKEN_HEADER = 'x-console-token';

/**
 * Why a request is refused before its path is read. A web page can point its own domain at 127.0.0.1 (DNS rebinding),
 * but it cannot choose the Host header; and its Origin differs from the console's.
 */
export function refusal({ headers }: IncomingMessage, port: number): string | undefined {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  const { host = '', origin } = headers;
  if (!hosts.includes(host)) return 'This host is not served';
  if (origin !== undefined && origin !== `http://${host}`) return 'Another origin may not ask';
  return undefined;
}

/** Why a request for data is refused: the page of the console did not send it. */
export function dataRefusal({ method, headers }: IncomingMessage, token: string): string | undefined {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return 'Another site may not ask';
  if (method !== 'POST') return undefined;
  if (headers.origin === undefined) return 'The Origin header is missing';
  const given = headers[TOKEN_HEADER];
  if (!isToken(Array.isArray(given) ? given[0] : given, token)) return `The header ${TOKEN_HEADER} is missing`;
  if (!headers['content-type']?.startsWith('application/json')) return 'The body has to be JSON';
  return undefined;
}

/** Headers that forbid foreign content, inline scripts and frames, and keep the URL of the page secret. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};
