import type { HttpReply, HttpRequest } from './http.ts';

type Headers = HttpRequest['headers'];

const ALLOWED_HEADERS = [
  'authorization',
  'content-type',
  'accept',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'mcp-session-id',
  'last-event-id',
  'idempotency-key',
];

/** A request without an Origin is allowed: only browsers send one. */
export function originAllowed({ origin }: Headers, allowed: readonly string[]): boolean {
  return origin === undefined || allowed.some((pattern) => matches(origin, pattern));
}

/** Without these headers, a browser hides the answer from the page. */
export function corsHeaders({ origin }: Headers): Record<string, string> {
  if (origin === undefined) return {};
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'www-authenticate, mcp-session-id, retry-after',
    vary: 'origin',
  };
}

export function preflight(headers: Headers): HttpReply {
  const asked = (headers['access-control-request-headers'] ?? '').toLowerCase().split(',');
  const params = asked.map((name) => name.trim()).filter((name) => /^mcp-param-[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name));
  return {
    status: 200,
    headers: {
      'content-type': 'text/plain',
      'access-control-allow-methods': 'POST, GET, DELETE, OPTIONS',
      'access-control-allow-headers': [...ALLOWED_HEADERS, ...params].join(', '),
      'access-control-max-age': '7200',
    },
    // A streamed answer without a body may end late on AWS.
    body: '\n',
  };
}

function matches(origin: string, pattern: string): boolean {
  if (!pattern.endsWith(':*')) return origin === pattern;
  const host = pattern.slice(0, -2);
  return origin === host || (origin.startsWith(`${host}:`) && /^\d{1,5}$/.test(origin.slice(host.length + 1)));
}
