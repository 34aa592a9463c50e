import { describe, expect, test } from 'vitest';
import { corsHeaders, originAllowed, preflight } from '../../../../functions/mcp/http/cors.ts';

const from = (origin?: string, more: Readonly<Record<string, string>> = {}) => ({
  ...(origin !== undefined && { origin }),
  ...more,
});

describe('an origin', () => {
  const allowed = ['https://app.example', 'http://localhost:*'];

  test.each([
    [undefined, true],
    ['https://app.example', true],
    ['https://app.example:443', false],
    ['https://app.example.evil', false],
    ['http://app.example', false],
    ['', false],
    ['null', false],
    ['http://localhost', true],
    ['http://localhost:1', true],
    ['http://localhost:65535', true],
    ['http://localhost:655350', false],
    ['http://localhost:', false],
    ['http://localhost:x1', false],
    ['http://localhost:1x', false],
    ['http://localhost.evil:80', false],
    ['http://localhostevil', false],
    ['http://evil:80', false],
    ['http://l0calhost:80', false],
    ['http://localhost:*', false],
  ])('%s is allowed: %s (A-08)', (origin, good) => {
    expect(originAllowed(from(origin), allowed)).toBe(good);
    expect(originAllowed(from(origin), [])).toBe(origin === undefined);
  });
});

describe('what a browser may see (A-23)', () => {
  test('is said to the origin that asks, and to no other client', () => {
    expect(corsHeaders(from())).toEqual({});
    expect(corsHeaders(from('https://app.example'))).toEqual({
      'access-control-allow-origin': 'https://app.example',
      'access-control-expose-headers': 'www-authenticate, mcp-session-id, retry-after',
      vary: 'origin',
    });
  });

  const known =
    'authorization, content-type, accept, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id, ' +
    'last-event-id, idempotency-key';

  test.each([
    [undefined, known],
    ['x-other, mcp-param-', known],
    ['Mcp-Param-Region , mcp-param-a.b', `${known}, mcp-param-region, mcp-param-a.b`],
    ['x-mcp-param-a, mcp-param-a b, mcp-param-a:', known],
  ])('may send the headers of the protocol, and parameters it asks for: %s', (asked, headers) => {
    expect(
      preflight(from('https://a.example', asked === undefined ? {} : { 'access-control-request-headers': asked })),
    ).toEqual({
      status: 200,
      headers: {
        'content-type': 'text/plain',
        'access-control-allow-methods': 'POST, GET, DELETE, OPTIONS',
        'access-control-allow-headers': headers,
        'access-control-max-age': '7200',
      },
      body: '\n',
    });
  });
});
