import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer } from 'node:http';
import { describe, expect, test, vi } from 'vitest';
import { loopbackFetcher } from '../../../functions/authorizer/loopback.ts';
import { type TokenCaller, verifier } from '../../../functions/authorizer/verify.ts';
import { verifiedKey } from '../../../functions/tasks/ids.ts';
import { close, listen } from '../../../local/testing.ts';
import { issuer, useIssuer } from '../../support/issuer.ts';
import { AUDIENCE, jwt } from '../../support/oidc.ts';

useIssuer();

const now = () => Math.floor(Date.now() / 1_000);
const verify = (token: string, more: object = {}) =>
  verifier({ issuer: issuer.url, audience: [AUDIENCE, 'app-client'], ...more }, { fetcher: loopbackFetcher })(token);
const ann = () => verifiedKey(issuer.url, 'user', 'ann');

describe('whose a token is (G-15)', () => {
  test('its user, by issuer and subject', async () => {
    const token = issuer.token({ scope: 'a b:c', client_id: 'one' });
    expect(await verify(token)).toEqual({
      ...{ owner: ann(), scopes: ['a', 'b:c'] },
      caller: { subject: 'ann', client: 'one' },
    });
    expect(await verify(issuer.token({ client_id: 'two' }))).toMatchObject({ owner: ann() });
    expect(await verify(issuer.token({ sub: 'ben' }))).not.toMatchObject({ owner: ann() });
  });

  test('without a user its client, which is distinct from a user of the same name', async () => {
    const owner = verifiedKey(issuer.url, 'client', 'ann');
    expect(owner).not.toBe(ann());
    for (const claims of [{ client_id: 'ann' }, { azp: 'ann' }]) {
      expect(await verify(issuer.token({ sub: undefined, ...claims }))).toMatchObject({ owner });
    }
  });

  test('an empty name is none: not of a user, and not of a client', async () => {
    const owner = verifiedKey(issuer.url, 'client', 'ann');
    expect(await verify(issuer.token({ sub: '', client_id: 'ann' }))).toMatchObject({ owner });
    expect(await verify(issuer.token({ sub: undefined, client_id: '', azp: 'ann' }))).toMatchObject({ owner });
    expect(await verify(issuer.token({ sub: undefined }))).toBe('invalid');
  });

  test('the same subject of another issuer is another caller', () => {
    expect(verifiedKey('https://a.example', 'user', 'ann')).not.toBe(verifiedKey('https://b.example', 'user', 'ann'));
  });

  test('tools see its listed claims, of those that it has', async () => {
    const token = issuer.token({ email: 'a@example.com', groups: ['x'], phone: '1' });
    expect(await verify(token, { callerClaims: ['email', 'groups', 'toString'] })).toMatchObject({
      caller: { subject: 'ann', claims: { email: 'a@example.com', groups: ['x'] } },
    });
    expect((await verify(token)) as TokenCaller).toHaveProperty('caller', { subject: 'ann' });
  });

  test('its scopes may be a list, and may be missing', async () => {
    const scopes = async (claims: object) =>
      ((await verify(issuer.token({ scope: undefined, ...claims }))) as TokenCaller).scopes;
    expect(await scopes({ scp: ['a', 'b'] })).toEqual(['a', 'b']);
    expect(await scopes({ scp: 'a b' })).toEqual(['a', 'b']);
    expect(await scopes({ scp: ' a  b ' })).toEqual(['a', 'b']);
    expect(await scopes({})).toEqual([]);
  });
});

test('the issuer decides how long a token lives: `exp` has no maximum, `iat` is not checked', async () => {
  for (const claims of [{ exp: 1e12 }, { iat: now() + 1e6 }, { iat: 0 }, { iat: undefined }]) {
    expect(await verify(issuer.token(claims))).toMatchObject({ owner: ann() });
  }
  expect(await verify(issuer.token({ exp: now() - 1 }))).toBe('invalid');
});

test('Cognito access tokens without an audience are judged by client; ID tokens are refused', async () => {
  const cognito = { aud: undefined, client_id: 'app-client' };
  expect(await verify(issuer.token({ ...cognito, token_use: 'access' }))).toMatchObject({ owner: ann() });
  expect(await verify(issuer.token({ ...cognito, token_use: 'access', client_id: 'other' }))).toBe('invalid');
  expect(await verify(issuer.token(cognito))).toBe('invalid');
  expect(await verify(issuer.token({ aud: 'app-client', token_use: 'id' }))).toBe('invalid');
  // An audience counts where there is one, with any client.
  expect(await verify(issuer.token({ ...cognito, aud: 'other', token_use: 'access' }))).toBe('invalid');
});

test('a token before its time or with an unpublished key is not called invalid', async () => {
  expect(await verify(issuer.token({ nbf: now() + 60 }))).toBe('unknown yet');
  const check = verifier({ issuer: issuer.url, audience: [AUDIENCE] }, { fetcher: loopbackFetcher });
  const unknown = issuer.token({}, { kid: 'unknown' });
  for (const _ of [1, 2]) expect(await check(unknown)).toBe('unknown yet');
  expect(await check(issuer.token({ exp: now() - 1 }))).toBe('invalid');
});

/** An issuer whose configuration and keys are these. */
async function issuerWith(answer: (path: string, url: string) => { status?: number; body: unknown }) {
  const server = createServer((request, response) => {
    const { status = 200, body } = answer(request.url ?? '', url);
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  const url = await listen(server, 0);
  return { url, stop: () => close(server) };
}

const signed = (url: string, alg: string, kid: string, signature: (text: string) => Buffer) =>
  jwt({ alg, kid }, { iss: url, aud: AUDIENCE, sub: 'ann', exp: now() + 60 }, signature);

describe('keys', () => {
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ed = generateKeyPairSync('ed25519');
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const almost = generateKeyPairSync('rsa', { modulusLength: 2040 });
  const jwk = (kid: string, key: KeyObject, more = {}) => ({ ...key.export({ format: 'jwk' }), kid, ...more });
  const keys = [
    jwk('ec', ec.publicKey),
    jwk('ed', ed.publicKey),
    jwk('rsa', rsa.publicKey),
    jwk('enc', rsa.publicKey, { use: 'enc' }),
    jwk('1024 bits', weak.publicKey),
    jwk('2040 bits', almost.publicKey),
  ];
  const p1363 = (text: string) => sign('sha256', Buffer.from(text), { key: ec.privateKey, dsaEncoding: 'ieee-p1363' });

  test.each([
    ['ES256', 'ec', p1363, true],
    ['EdDSA', 'ed', (text: string) => sign(null, Buffer.from(text), ed.privateKey), true],
    ['RS256', 'rsa', (text: string) => sign('sha256', Buffer.from(text), rsa.privateKey), true],
    ['RS256', '1024 bits', (text: string) => sign('sha256', Buffer.from(text), weak.privateKey), false],
    ['RS256', '2040 bits', (text: string) => sign('sha256', Buffer.from(text), almost.privateKey), false],
    ['RS256', 'enc', (text: string) => sign('sha256', Buffer.from(text), rsa.privateKey), false],
    ['RS256', 'ec', p1363, false],
    ['ES256', 'rsa', (text: string) => sign('sha256', Buffer.from(text), rsa.privateKey), false],
    [
      'HS256',
      'ec',
      (text: string) =>
        createHmac('sha256', String(ec.publicKey.export({ format: 'jwk' }).x))
          .update(text)
          .digest(),
      false,
    ],
    [
      'HS256',
      'rsa',
      (text: string) =>
        createHmac('sha256', rsa.publicKey.export({ type: 'spki', format: 'pem' }))
          .update(text)
          .digest(),
      false,
    ],
  ] as const)('%s by the key %s', async (alg, kid, signature, good) => {
    const other = await issuerWith(() => ({ body: { keys } }));
    const check = verifier(
      { issuer: other.url, audience: [AUDIENCE], jwksUri: `${other.url}/any` },
      { fetcher: loopbackFetcher },
    );
    expect((await check(signed(other.url, alg, kid, signature))) !== 'invalid').toBe(good);
    await other.stop();
  });

  const configuration = (url: string, more: object = {}) => ({ issuer: url, jwks_uri: `${url}/keys`, ...more });
  const shows = (path: string, body: unknown, elsewhere: { status?: number; body: unknown }) =>
    path === '/keys' ? { body } : elsewhere;

  test.each([
    [
      'has no configuration',
      /Status code is 404/,
      (path: string, url: string) => shows(path, { keys }, { status: 404, body: configuration(url) }),
    ],
    [
      'is another one by its configuration',
      /names a different issuer/,
      (path: string, url: string) => shows(path, { keys }, { body: configuration(url, { issuer: `${url}/` }) }),
    ],
    ['names no keys', /names no keys/, (path: string, url: string) => shows(path, { keys }, { body: { issuer: url } })],
    [
      'fails to show its keys',
      /Status code is 500/,
      (path: string, url: string) =>
        path === '/keys' ? { status: 500, body: { keys } } : { body: configuration(url) },
    ],
    [
      'shows something else as its keys',
      /./,
      (path: string, url: string) => shows(path, 'no', { body: configuration(url) }),
    ],
  ])('an issuer that %s does not make the tokens of its users bad', async (_title, why, answer) => {
    const other = await issuerWith(answer);
    const check = verifier({ issuer: other.url, audience: [AUDIENCE] }, { fetcher: loopbackFetcher });
    await expect(check(signed(other.url, 'ES256', 'ec', p1363))).rejects.toThrow(why);
    await other.stop();
  });

  test.each([
    ['', '/.well-known/oauth-authorization-server'],
    ['/tenants/1', '/.well-known/oauth-authorization-server/tenants/1'],
    ['/tenants/1/', '/.well-known/oauth-authorization-server/tenants/1'],
  ])('an issuer %s without OpenID discovery says where its keys are by RFC 8414', async (path, metadata) => {
    const other = await issuerWith((asked, url) => {
      const body = asked === metadata ? configuration(url, { issuer: `${url}${path}` }) : { keys };
      return { body, ...(![metadata, '/keys'].includes(asked) && { status: 404 }) };
    });
    const check = verifier({ issuer: `${other.url}${path}`, audience: [AUDIENCE] }, { fetcher: loopbackFetcher });
    expect(await check(signed(`${other.url}${path}`, 'ES256', 'ec', p1363))).toMatchObject({ scopes: [] });
    await other.stop();
  });

  test('an issuer that is not there is no reason, either', async () => {
    const other = await issuerWith(() => ({ body: {} }));
    await other.stop();
    const check = verifier({ issuer: other.url, audience: [AUDIENCE] }, { fetcher: loopbackFetcher });
    await expect(check(signed(other.url, 'ES256', 'ec', p1363))).rejects.toThrow(/ECONNREFUSED/);
  });

  test('an issuer that does not answer is given up after three seconds', async () => {
    const server = createServer(() => {});
    const url = await listen(server, 0);
    const check = verifier({ issuer: url, audience: [AUDIENCE] }, { fetcher: loopbackFetcher });
    // Node's own agent gives up after five, with another error.
    await expect(check(signed(url, 'ES256', 'ec', p1363))).rejects.toThrow(/due to timeout/);
    await close(server);
  });

  test('an issuer may end with a slash: its configuration lies below it, with one slash between', async () => {
    const path = '/.well-known/openid-configuration';
    const other = await issuerWith((asked, url) =>
      shows(
        asked,
        { keys },
        asked === path ? { body: configuration(url, { issuer: `${url}/` }) } : { status: 404, body: {} },
      ),
    );
    const check = verifier({ issuer: `${other.url}/`, audience: [AUDIENCE] }, { fetcher: loopbackFetcher });
    expect(await check(signed(`${other.url}/`, 'ES256', 'ec', p1363))).toMatchObject({ scopes: [] });
    await other.stop();
  });

  test('a key id that is not known while the issuer is down is an outage, not a bad token', async () => {
    let shown: { status?: number; body: object } = { body: { keys } };
    const other = await issuerWith(() => shown);
    const check = verifier(
      { issuer: other.url, audience: [AUDIENCE], jwksUri: `${other.url}/any` },
      { fetcher: loopbackFetcher },
    );
    expect(await check(signed(other.url, 'ES256', 'ec', p1363))).toMatchObject({ scopes: [] });
    shown = { status: 503, body: {} };
    await expect(check(signed(other.url, 'ES256', 'new', p1363))).rejects.toThrow(/Status code is 503/);
    await other.stop();
  });

  test('a withdrawn key counts for five more minutes, or until the issuer answers again', async () => {
    let clock = Date.now();
    let shown: { status?: number; body: object } = { body: { keys } };
    const other = await issuerWith(() => shown);
    const check = verifier(
      { issuer: other.url, audience: [AUDIENCE], jwksUri: `${other.url}/any` },
      { fetcher: loopbackFetcher, now: () => clock },
    );
    const token = signed(other.url, 'ES256', 'ec', p1363);
    const good = { owner: verifiedKey(other.url, 'user', 'ann') };
    expect(await check(token)).toMatchObject(good);
    shown = { status: 503, body: {} };
    clock += 300_000;
    const said = vi.spyOn(console, 'error').mockReturnValue(undefined);
    expect(await check(token)).toMatchObject(good);
    expect(said.mock.calls).toEqual([[expect.stringContaining('"event":"unexpected_error"')]]);
    said.mockRestore();
    shown = { body: { keys: [jwk('ed', ed.publicKey)] } };
    clock += 299_999;
    expect(await check(token)).toMatchObject(good);
    clock += 1;
    expect(await check(token)).toBe('unknown yet');
    // Another key by the same name is another key.
    shown = { body: { keys: [jwk('ec', generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey)] } };
    clock += 300_000;
    expect(await check(token)).toBe('invalid');
    await other.stop();
  });

  test('an issuer that was down is asked again', async () => {
    let down = true;
    const other = await issuerWith((path, url) => {
      if (down) return { status: 503, body: {} };
      return { body: path === '/keys' ? { keys } : { issuer: url, jwks_uri: `${url}/keys` } };
    });
    const check = verifier({ issuer: other.url, audience: [AUDIENCE] }, { fetcher: loopbackFetcher });
    const token = signed(other.url, 'ES256', 'ec', p1363);
    await expect(check(token)).rejects.toThrow();
    down = false;
    expect(await check(token)).toMatchObject({ owner: verifiedKey(other.url, 'user', 'ann') });
    await other.stop();
  });
});
