import { describe, expect, test } from 'vitest';
import { loopbackFetcher } from '../../../functions/authorizer/loopback.ts';
import { verifier } from '../../../functions/authorizer/verify.ts';
import { issuer, useIssuer } from '../../support/issuer.ts';
import type { Claims, Header } from '../../support/oidc.ts';

useIssuer();

const now = Math.floor(Date.now() / 1_000);
/** An ID token has the client as its audience. docs/auth.md has it so for access tokens of Cognito, Entra ID for all. */
const AUDIENCE = 'client-1';
const judge = async (claims: Claims, header: Header) => {
  const verify = verifier({ issuer: issuer.url, audience: [AUDIENCE] }, { fetcher: loopbackFetcher });
  return typeof (await verify(issuer.token({ aud: AUDIENCE, ...claims }, header))) === 'object';
};
type Row = readonly [what: string, claims: Claims, header?: Header];
const rows = (all: readonly Row[]) => all.map(([what, claims, header = {}]) => ({ what, claims, header }));

/** Each signed by the issuer, in time, for our audience. */
const ACCESS_TOKENS: Row[] = [
  ['says nothing of its type', {}],
  ['has the type at+jwt (RFC 9068)', {}, { typ: 'at+jwt' }],
  ['has the type application/at+jwt', {}, { typ: 'application/at+jwt' }],
  ['has the type JWT', {}, { typ: 'JWT' }],
  ['is one of Cognito', { token_use: 'access', aud: undefined, client_id: AUDIENCE }],
  ['is one of Keycloak', { typ: 'Bearer', azp: 'console', acr: '1', sid: 's' }, { typ: 'JWT' }],
  ['is one of Keycloak before version 25, with a nonce', { typ: 'Bearer', nonce: 'n', auth_time: now }],
  ['is one of Entra ID', { ver: '2.0', scp: 'mcp', scope: undefined, oid: 'o', tid: 't', uti: 'u', rh: 'r' }],
  ['is one of Auth0', { azp: AUDIENCE, gty: 'client-credentials' }, { typ: 'JWT' }],
  ['is one of Okta', { ver: 1, cid: 'c', uid: 'u', auth_time: now, scp: ['mcp'], scope: undefined }],
  ['has a token_type', { token_type: 'Bearer' }],
  ['is for others, too', { aud: [AUDIENCE, 'other'] }],
];

const OTHERS: Row[] = [
  ['has an extension that is not understood (RFC 7515, 4.1.11)', {}, { crit: ['urn:x'], 'urn:x': 1 }],
  ['has a crit of a claim', {}, { crit: ['exp'] }],
  ['has an empty crit', {}, { crit: [] }],
  ['is an ID token of Cognito', { token_use: 'id' }],
  ['is an ID token with a nonce', { scope: undefined, nonce: 'n', auth_time: now }],
  ['is an ID token with a hash of the access token', { scope: undefined, at_hash: 'h' }, { typ: 'JWT' }],
  ['is an ID token with a hash of the code', { scope: undefined, c_hash: 'h' }],
  ['is an ID token whose provider copies the scope', { nonce: 'n', at_hash: 'h' }, { typ: 'JWT' }],
  ['is an ID token of Keycloak', { typ: 'ID', at_hash: 'h' }, { typ: 'JWT' }],
  ['is a refresh token of Keycloak', { typ: 'Refresh' }, { typ: 'JWT' }],
  ['is an offline token of Keycloak', { typ: 'Offline' }, { typ: 'JWT' }],
  ['is a registration token of Keycloak', { typ: 'RegistrationAccessToken' }],
  ['is a refresh token by its token_type', { token_type: 'refresh' }],
  ['is a refresh token by its token_use', { token_use: 'refresh' }],
  ['has a type that is no text', { typ: ['Bearer'] }],
  [
    'is a logout token',
    { events: { 'http://schemas.openid.net/event/backchannel-logout': {} } },
    { typ: 'logout+jwt' },
  ],
  ['is a logout token without its type', { events: {} }],
  ['is a logout token by its type alone', {}, { typ: 'logout+jwt' }],
  ['is a security event (RFC 8417)', {}, { typ: 'secevent+jwt' }],
  ['is a DPoP proof', {}, { typ: 'dpop+jwt' }],
  ['is an answer of introspection (RFC 9701)', {}, { typ: 'token-introspection+jwt' }],
  ['is a request object (RFC 9101)', {}, { typ: 'oauth-authz-req+jwt' }],
  ['has a type that is no text in its header', {}, { typ: 1 }],
  ['is bound to a DPoP key (RFC 9449)', { cnf: { jkt: 'x' } }, { typ: 'at+jwt' }],
  ['is bound to a certificate (RFC 8705)', { cnf: { 'x5t#S256': 'x' } }],
  ['is bound to a key, and says typ DPoP', { typ: 'DPoP', cnf: { jkt: 'x' } }],
  ['has no audience', { aud: undefined }],
  ['never ends', { exp: undefined }],
  ['has ended', { exp: now - 1 }],
  ['is of another issuer', { iss: 'https://evil.example' }],
  ['is of no issuer', { iss: undefined }],
  ['has no subject and no client', { sub: undefined }],
  ['says that it is not signed', {}, { alg: 'none' }],
  ['names no key', {}, { kid: undefined }],
];

describe('a token that its issuer has signed for us (G-03)', () => {
  test.each(rows(ACCESS_TOKENS))('counts if it $what', async ({ claims, header }) => {
    expect(await judge(claims, header)).toBe(true);
  });

  test.each(rows(OTHERS))('does not count if it $what', async ({ claims, header }) => {
    expect(await judge(claims, header)).toBe(false);
  });
});
