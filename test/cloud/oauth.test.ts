import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Cloud } from '../../local/cloud.ts';
import { type Answer, legacySession, modernMessage, modernRequest, post } from '../support/clients.ts';
import { startOAuthCloud } from '../support/oauth-cloud.ts';
import { AUDIENCE, jwt, startIssuer, type TestIssuer } from '../support/oidc.ts';

let issuer: TestIssuer;
let cloud: Cloud;
beforeAll(async () => {
  issuer = await startIssuer();
  cloud = await startOAuthCloud(issuer.url);
});
afterAll(async () => {
  await cloud?.stop();
  await issuer?.stop();
});

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
const invalid = () =>
  refusal(
    401,
    `Bearer error="invalid_token", scope="mcp", resource_metadata="${metadata()}"`,
    'Unauthorized: the access token is not valid',
  );
const forbidden = (scope: string) =>
  refusal(
    403,
    `Bearer error="insufficient_scope", scope="${scope}", resource_metadata="${metadata()}"`,
    'Forbidden: the access token lacks a scope',
  );

describe.each(ERAS)('a %s client', (_era, send) => {
  test('with a good token is served', async () => {
    expect(await send(bearer(issuer.token()))).toMatchObject({ status: 200, body: { result: {} } });
    expect((await send({ authorization: `bearer ${issuer.token({ aud: ['x', AUDIENCE] })}` })).status).toBe(200);
  });

  const pem = () => issuer.keys.publicKey.export({ type: 'spki', format: 'pem' }) as string;
  /** As whom the caller is treated: one without a token, since there is none or it may yet be good, or one with a bad one. */
  const REFUSED: [string, typeof invalid, () => string | undefined][] = [
    ['no token', unauthorized, () => undefined],
    ['another scheme', unauthorized, () => 'Basic YTpi'],
    ['garbage', invalid, () => 'Bearer garbage'],
    ['what looks like a token', invalid, () => 'Bearer a.b.c'],
    ['an expired token', invalid, () => `Bearer ${issuer.token({ exp: now() - 1 })}`],
    ['a token that never expires', invalid, () => `Bearer ${issuer.token({ exp: undefined })}`],
    ['a token that is not valid yet', unauthorized, () => `Bearer ${issuer.token({ nbf: now() + 60 })}`],
    ['a token of another issuer', invalid, () => `Bearer ${issuer.token({ iss: 'https://evil.example' })}`],
    ['a token without an issuer', invalid, () => `Bearer ${issuer.token({ iss: undefined })}`],
    ['a token for another audience', invalid, () => `Bearer ${issuer.token({ aud: 'https://other.example/mcp' })}`],
    ['a token for no audience', invalid, () => `Bearer ${issuer.token({ aud: undefined, client_id: AUDIENCE })}`],
    ['an ID token', invalid, () => `Bearer ${issuer.token({ token_use: 'id' })}`],
    ['a token of nobody', invalid, () => `Bearer ${issuer.token({ sub: undefined })}`],
    ['alg none', invalid, () => `Bearer ${issuer.token({}, { alg: 'none' })}`],
    [
      'alg none without a signature',
      invalid,
      () => `Bearer ${issuer.token({}, { alg: 'none' }).replace(/[^.]+$/, '')}`,
    ],
    [
      'key confusion: the public key as a shared secret',
      invalid,
      () => {
        const header = { alg: 'HS256', kid: issuer.keys.kid };
        const claims = { iss: issuer.url, aud: AUDIENCE, sub: 'ann', scope: 'mcp', exp: now() + 60 };
        return `Bearer ${jwt(header, claims, (text) => createHmac('sha256', pem()).update(text).digest())}`;
      },
    ],
    [
      'a changed claim',
      invalid,
      () => `Bearer ${issuer.token().replace(/\.[^.]+\./, `.${claimsOf({ sub: 'ben' })}.`)}`,
    ],
    ['a token without a key id', invalid, () => `Bearer ${issuer.token({}, { kid: undefined })}`],
  ];
  const claimsOf = (claims: object) =>
    Buffer.from(JSON.stringify({ iss: issuer.url, aud: AUDIENCE, scope: 'mcp', exp: now() + 60, ...claims })).toString(
      'base64url',
    );
  test.each(REFUSED)(
    'with %s gets a 401 that says where tokens are to be had, and whether the one it sent is bad (G-02 to G-04, G-06, G-08)',
    async (_title, answer, authorization) => {
      const sent = authorization();
      expect(seen(await send(sent === undefined ? {} : { authorization: sent }))).toEqual(answer());
    },
  );

  test('with a token in the query string gets a 401 (G-02)', async () => {
    const response = await fetch(`${url()}?access_token=${issuer.token()}`, { method: 'POST', body: '{}' });
    expect(response.status).toBe(401);
  });

  test('whose token lacks what every call needs gets a 403 that names it (G-09)', async () => {
    expect(seen(await send(bearer(issuer.token({ scope: 'other mcp:below' }))))).toEqual(forbidden('mcp'));
  });
});

const CALLS: [era: string, call: (tool: string, token: string) => Promise<Answer>][] = [
  [
    '2026-07-28',
    (name, token) => modernRequest(url(), 'tools/call', { name, arguments: {} }, { headers: bearer(token) }),
  ],
  [
    '2025-11-25',
    async (name, token) =>
      (await legacySession(url(), {}, '2025-11-25', bearer(token))).request('tools/call', {
        name,
        arguments: {},
        task: {},
      }),
  ],
];
describe.each(CALLS)('a tool with scopes of its own, in %s', (_era, call) => {
  test.each([
    ['event', 'mcp', 'mcp ops:deploy'],
    ['event', 'mcp ops:deploys', 'mcp ops:deploy'],
    ['direct_throws', 'mcp ops:deploy', 'mcp ops:deploy ops:read'],
    ['event', 'ops:deploy', 'mcp ops:deploy'],
  ])('%s with %s: a 403 that names all it needs, and nothing was done (G-09)', async (tool, scope, needed) => {
    const mark = cloud.calls.mark();
    expect(seen(await call(tool, issuer.token({ scope })))).toEqual(forbidden(needed));
    // Tasks of other tests may still be at work.
    const mine = cloud.calls.since(mark).filter(({ caller }) => caller.startsWith('ServerEndpoint'));
    const done = mine.map(({ service, operation }) => `${service} ${operation}`);
    expect(done.filter((one) => !one.startsWith('secretsmanager'))).toEqual([]);
  });

  test.each(['mcp ops:deploy', 'mcp ops'])('with %s it runs (G-10)', async (scope) => {
    const { status, body } = await call('event', issuer.token({ scope }));
    expect([status, body.error]).toEqual([200, undefined]);
  });
});

test('the endpoint itself sends the caller to the challenge, on the same path and origin', async () => {
  const { body, headers } = modernMessage('tools/call', { name: 'event' });
  const send = (at: string) =>
    fetch(at, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        ...(headers as Record<string, string>),
        'content-type': 'application/json',
        ...bearer(issuer.token()),
      },
      body: JSON.stringify(body),
    });
  for (const at of [url(), `${url()}/`, `${cloud.url}//mcp`]) {
    const response = await send(at);
    expect([response.status, response.headers.get('location')]).toEqual([307, '/mcp/challenge?tool=event']);
    expect(await response.json()).toMatchObject({ id: body.id, error: { code: -32600 } });
  }
  // What every call needs, whatever is called: no name of a client's goes into an address.
  const short = issuer.token({ scope: 'other' });
  for (const name of ['no-such-tool', 'echo', undefined]) {
    const listed = modernMessage(name === undefined ? 'tools/list' : 'tools/call', { name });
    const response = await fetch(url(), {
      ...{ method: 'POST', redirect: 'manual', body: JSON.stringify(listed.body) },
      headers: {
        ...(listed.headers as Record<string, string>),
        'content-type': 'application/json',
        ...bearer(short),
      },
    });
    const at = name === 'echo' ? '/mcp/challenge?tool=echo' : '/mcp/challenge';
    expect([response.status, response.headers.get('location')]).toEqual([307, at]);
    expect(await response.json()).toMatchObject({ id: listed.body.id, error: { code: -32600 } });
  }
});

test('the challenge lets nobody in, and knows no more than its caller', async () => {
  const at = (path: string, token?: string) =>
    fetch(`${url()}/challenge${path}`, { method: 'POST', headers: token === undefined ? {} : bearer(token) });
  expect((await at('')).status).toBe(401);
  const bad = await at('', 'garbage');
  expect([bad.status, bad.headers.get('www-authenticate')]).toEqual([401, invalid().challenge]);
  for (const path of ['', '?tool=nonsense', '?tool=__proto__', '?tool=echo']) {
    const response = await at(path, issuer.token());
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([403, forbidden('mcp').challenge]);
  }
});

test('a token that expires while its answer is kept is refused all the same (G-04)', async () => {
  const token = issuer.token({ exp: now() + 2 });
  const list = () => modernRequest(url(), 'tools/list', {}, { headers: bearer(token) });
  expect((await list()).status).toBe(200);
  await sleep(2_100);
  expect(seen(await list())).toEqual(invalid());
});

test('every verb asks for a token, but not the preflight of a browser', async () => {
  for (const method of ['GET', 'DELETE', 'POST', 'PUT', 'PATCH'])
    expect((await fetch(url(), { method })).status).toBe(401);
  const headers = { origin: 'http://localhost:1', 'access-control-request-headers': 'authorization' };
  const preflight = await fetch(url(), { method: 'OPTIONS', headers });
  expect(preflight.status).toBe(204);
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

test('a tool hears nothing of the token (G-12)', async () => {
  const token = issuer.token({ scope: 'mcp ops' });
  const { body } = await modernRequest(
    url(),
    'tools/call',
    { name: 'event' },
    { headers: bearer(token), capabilities: {} },
  );
  const told = JSON.stringify(body.result);
  expect(told).toContain('"event"');
  for (const part of token.split('.')) expect(told).not.toContain(part);
});

test('a session is good for the caller it was given to, and for nobody else (G-14, G-15)', async () => {
  const ann = await legacySession(url(), {}, '2025-11-25', bearer(issuer.token()));
  const again = bearer(issuer.token({ jti: 'another' }));
  expect((await ann.request('ping', {}, again)).body).toMatchObject({ result: {} });
  const ben = bearer(issuer.token({ sub: 'ben' }));
  const foreign = await ann.request('ping', {}, ben);
  expect([foreign.status, foreign.body.error.message]).toEqual([404, 'Session not found: initialize again']);
  const forged = { ...ben, 'mcp-session-id': 'a.b' };
  expect((await ann.request('ping', {}, forged)).body.error).toEqual(foreign.body.error);
});

test('keys are fetched once, and again when a token names one that is not among them', async () => {
  const send = (header = {}) => modernRequest(url(), 'ping', {}, { headers: bearer(issuer.token({}, header)) });
  const before = issuer.fetches();
  const old = issuer.token({ jti: 'old' });
  const status = async (token: string) =>
    (await modernRequest(url(), 'tools/list', {}, { headers: bearer(token) })).status;
  expect(await status(issuer.token({ jti: 'x' }))).toBe(200);
  expect(issuer.fetches()).toBe(before);
  issuer.rotate();
  expect(await status(issuer.token())).toBe(200);
  expect(await status(old)).toBe(200);
  expect(issuer.fetches()).toBe(before + 1);
  // Asked for again and again, an unknown key is looked for every ten seconds at most.
  for (const kid of ['unknown', 'unknown', 'other']) expect(seen(await send({ kid }))).toEqual(unauthorized());
  expect(issuer.fetches()).toBe(before + 2);
  expect(await status(issuer.token({ jti: 'y' }))).toBe(200);
});
