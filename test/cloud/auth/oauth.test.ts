import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Cloud } from '../../../local/cloud.ts';
import { type Answer, legacySession, modernRequest, post } from '../../support/clients.ts';
import { issuer, useIssuer } from '../../support/issuer.ts';
import { startOAuthCloud, startUnnamedOAuthCloud } from '../../support/oauth-cloud.ts';
import { AUDIENCE } from '../../support/oidc.ts';

useIssuer();

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startOAuthCloud(issuer.url);
});
afterAll(() => cloud?.stop());

const url = () => `${cloud.url}/mcp`;
const metadata = () => `${cloud.url}/.well-known/oauth-protected-resource/mcp`;
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const now = () => Math.floor(Date.now() / 1_000);

/** The first request of a client of each revision. */
const ERAS: [era: string, send: (headers: Record<string, string>) => Promise<Answer>][] = [
  ['2025-11-25', (headers) => post(url(), initialize, headers)],
  ['2026-07-28', (headers) => modernRequest(url(), 'tools/list', {}, { headers })],
];
const initialize = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
};

function seen({ status, headers, body }: Answer) {
  return {
    ...{ status, body, challenge: headers.get('www-authenticate'), type: headers.get('content-type') },
    ...{ origin: headers.get('access-control-allow-origin'), exposed: headers.get('access-control-expose-headers') },
  };
}
const refusal = (status: number, challenge: string, message: string) => ({
  ...{ status, challenge, type: 'application/json', body: { jsonrpc: '2.0', error: { code: -32600, message } } },
  ...{ origin: '*', exposed: 'WWW-Authenticate, Retry-After' },
});
const unauthorized = () =>
  refusal(401, `Bearer scope="mcp", resource_metadata="${metadata()}"`, 'Unauthorized: send a valid access token');
/** The answer of API Gateway: the same for every caller, with all scopes of the server and its tools. */
const forbidden = () =>
  refusal(
    403,
    `Bearer error="insufficient_scope", scope="mcp ops:deploy ops:read", resource_metadata="${metadata()}"`,
    'Forbidden: the access token lacks a scope',
  );

describe.each(ERAS)('a %s client', (_era, send) => {
  test('with a good token is served', async () => {
    expect(await send(bearer(issuer.token()))).toMatchObject({ status: 200, body: { result: {} } });
    expect((await send({ authorization: `bearer ${issuer.token({ aud: ['x', AUDIENCE] })}` })).status).toBe(200);
  });

  const REFUSED: [string, () => string | undefined][] = [
    ['no token', () => undefined],
    ['another scheme', () => 'Basic YTpi'],
    ['an expired token', () => `Bearer ${issuer.token({ exp: now() - 1 })}`],
  ];
  test.each(REFUSED)(
    'with %s gets a 401 that says where to get tokens (G-02 to G-04, G-06, G-08)',
    async (_title, authorization) => {
      const sent = authorization();
      expect(seen(await send(sent === undefined ? {} : { authorization: sent }))).toEqual(unauthorized());
    },
  );

  test('with a token in the query string gets a 401 (G-02)', async () => {
    const response = await fetch(`${url()}?access_token=${issuer.token()}`, { method: 'POST', body: '{}' });
    expect(response.status).toBe(401);
  });

  test('whose token lacks the scope of every call gets a 403 with all scopes (G-09)', async () => {
    expect(seen(await send(bearer(issuer.token({ scope: 'other mcp:below' }))))).toEqual(forbidden());
  });
});

/** The answer of the endpoint: it names the scopes that this request needs. */
const lacking = (scopes: string[], id?: unknown) => ({
  jsonrpc: '2.0',
  ...(id !== undefined && { id }),
  error: {
    code: -32600,
    message: `Forbidden: get a token with the scopes ${scopes.join(' ')}`,
    data: { reason: 'InsufficientScope', scopes },
  },
});

/** The calls of the endpoint since then, without calls that it makes once. Tasks of other tests may still work. */
const doneSince = (mark: number) =>
  cloud.calls
    .since(mark)
    .filter(({ caller, service }) => caller.startsWith('ServerEndpoint') && service !== 'secretsmanager')
    .map(({ service, operation }) => `${service} ${operation}`);

describe('a tool with its own scopes', () => {
  const SHORT: [tool: string, scope: string, needed: string[]][] = [
    ['event', 'mcp', ['mcp', 'ops:deploy']],
    ['event', 'mcp ops:deploys', ['mcp', 'ops:deploy']],
    ['direct_throws', 'mcp ops:deploy', ['mcp', 'ops:deploy', 'ops:read']],
  ];
  const modernCall = (name: string, scope: string, headers = {}) =>
    modernRequest(
      url(),
      'tools/call',
      { name, arguments: {} },
      { headers: { ...bearer(issuer.token({ scope })), ...headers } },
    );
  const legacyCall = async (name: string, scope: string) => {
    const session = await legacySession(url(), {}, '2025-11-25', bearer(issuer.token()));
    const mark = cloud.calls.mark();
    const answer = await session.request(
      'tools/call',
      { name, arguments: {}, task: {} },
      bearer(issuer.token({ scope })),
    );
    return { ...answer, done: doneSince(mark) };
  };

  test.each(SHORT)(
    '%s with %s in 2026-07-28: API Gateway answers 403, and nothing was done (G-09)',
    async (tool, scope) => {
      const mark = cloud.calls.mark();
      expect(seen(await modernCall(tool, scope))).toEqual(forbidden());
      expect(doneSince(mark)).toEqual([]);
    },
  );

  test.each(SHORT)(
    '%s with %s in 2025-11-25: the endpoint answers 403 with the scopes, nothing runs (G-09)',
    async (tool, scope, needed) => {
      const { status, body, done } = await legacyCall(tool, scope);
      expect([status, body, done]).toEqual([403, lacking(needed, body.id), []]);
    },
  );

  test('the server asks for its own scopes in both', async () => {
    expect(seen(await modernCall('event', 'ops:deploy'))).toEqual(forbidden());
    expect(seen(await legacyCall('event', 'ops:deploy'))).toEqual(forbidden());
  });

  test.each(['mcp ops:deploy', 'mcp ops'])('with %s it runs (G-10)', async (scope) => {
    for (const { status, body } of [await modernCall('event', scope), await legacyCall('event', scope)]) {
      expect([status, body.error]).toEqual([200, undefined]);
    }
  });

  test.each(['echo', 'get_task_result', '=?base64?ZWNobw==?='])(
    'a header that says %s gives no access',
    async (name) => {
      const mark = cloud.calls.mark();
      const { status, body } = await modernCall('event', 'mcp', { 'mcp-name': name });
      expect([status, body, doneSince(mark)]).toEqual([403, lacking(['mcp', 'ops:deploy'], body.id), []]);
    },
  );
});

test('no path but /mcp and the metadata leads anywhere, and no answer is a redirect', async () => {
  for (const path of ['/mcp/challenge', '/mcp/challenge?tool=event', '/mcp/', '//mcp', '/']) {
    for (const method of ['POST', 'GET', 'OPTIONS']) {
      const { status } = await fetch(cloud.url + path, { method, redirect: 'manual' });
      expect([path, status < 300 || status >= 400]).toEqual([path, true]);
    }
  }
});

test('every verb asks for a token, but not the preflight of a browser', async () => {
  for (const method of ['GET', 'DELETE', 'POST', 'PUT', 'PATCH'])
    expect((await fetch(url(), { method })).status).toBe(401);
  const headers = { origin: 'http://localhost:1', 'access-control-request-headers': 'authorization' };
  const preflight = await fetch(url(), { method: 'OPTIONS', headers });
  expect(preflight.status).toBe(200);
  expect(preflight.headers.get('access-control-allow-headers')).toContain('authorization');
});

test.each(['', '/mcp'])(
  'the metadata of the resource needs no token: well-known%s (G-05 to G-07, G-13)',
  async (path) => {
    const place = `${cloud.url}/.well-known/oauth-protected-resource${path}`;
    const response = await fetch(place);
    expect(response.status).toBe(200);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(await response.json()).toEqual({
      resource: url(),
      authorization_servers: [issuer.url],
      scopes_supported: ['mcp', 'ops:deploy', 'ops:read'],
      bearer_methods_supported: ['header'],
    });
    const preflight = await fetch(place, { method: 'OPTIONS' });
    expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([
      204,
      'mcp-protocol-version',
    ]);
  },
);

test('a tool gets no part of the token (G-12)', async () => {
  const token = issuer.token({ scope: 'mcp ops' });
  const { body } = await modernRequest(
    url(),
    'tools/call',
    { name: 'event' },
    { headers: bearer(token), capabilities: {} },
  );
  const text = JSON.stringify(body.result);
  expect(text).toContain('"event"');
  for (const part of token.split('.')) expect(text).not.toContain(part);
});

test('without a publicUrl the embedded cloud names the host of the request (G-06, G-13)', async () => {
  const unnamed = await startUnnamedOAuthCloud(issuer.url);
  const { port } = new URL(unnamed.url);
  for (const host of ['127.0.0.1', 'localhost']) {
    const here = `http://${host}:${port}`;
    const { headers } = await modernRequest(`${here}/mcp`, 'tools/list');
    const document = `${here}/.well-known/oauth-protected-resource/mcp`;
    expect(headers.get('www-authenticate')).toContain(`resource_metadata="${document}"`);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    const metadata = await fetch(document);
    expect(await metadata.json()).toMatchObject({ resource: `${here}/mcp` });
    expect(metadata.headers.get('x-content-type-options')).toBe('nosniff');
  }
  await unnamed.stop();
});

test('a session is valid only for the caller it was given to (G-14, G-15)', async () => {
  const ann = await legacySession(url(), {}, '2025-11-25', bearer(issuer.token()));
  const again = bearer(issuer.token({ jti: 'another' }));
  expect((await ann.request('ping', {}, again)).body).toMatchObject({ result: {} });
  const ben = bearer(issuer.token({ sub: 'ben' }));
  const foreign = await ann.request('ping', {}, ben);
  expect([foreign.status, foreign.body.error.message]).toEqual([404, 'Session not found: initialize again']);
  const forged = { ...ben, 'mcp-session-id': 'a.b' };
  expect((await ann.request('ping', {}, forged)).body.error).toEqual(foreign.body.error);
});
