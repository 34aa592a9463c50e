import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { AUDIENCE, type Claims, type Header, jwt, type TestIssuer } from '../../../support/oidc.ts';
import type { Random } from '../generate/random.ts';

/**
 * The right verdict on a request by its token alone. `forbidden`: the token is good, and lacks a scope that every call
 * needs.
 */
export type Verdict = 'refused' | 'forbidden' | 'good';

export interface Forged {
  readonly what: string;
  /** The values of the headers named `authorization`, in their order. */
  readonly authorization: readonly string[];
  readonly verdict: Verdict;
}

type Part<T> = readonly [what: string, part: T];
type Pair = Part<{ readonly claims?: Claims; readonly header?: Header }>;

const now = () => Math.floor(Date.now() / 1_000);
const LONG = 'x'.repeat(3_000);
const attacker = generateKeyPairSync('rsa', { modulusLength: 2048 });
const jwk = attacker.publicKey.export({ format: 'jwk' });

const claim = (name: string, ...values: unknown[]): Pair[] =>
  values.map((value) => [`${name} ${JSON.stringify(value)?.slice(0, 60)}`, { claims: { [name]: value } }]);
const header = (name: string, ...values: unknown[]): Pair[] =>
  values.map((value) => [`${name} ${JSON.stringify(value)?.slice(0, 60)}`, { header: { [name]: value } }]);

/** Tokens signed by the issuer that are not access tokens for this server. */
const REFUSED: readonly Pair[] = [
  ...header('crit', ['urn:x'], ['exp'], ['b64'], [], 'exp', {}, null, [null]),
  ...header('typ', 'logout+jwt', 'secevent+jwt', 'dpop+jwt', 'id_token', 'JWE', 'at+jwt ', 1, {}, ['at+jwt']),
  ...header('alg', 'none', 'None', 'NONE', '', 'RS384', 'RS512', 'PS256', 'ES256', 'EdDSA', 'HS256', 'rs256', null, 1),
  ...header('kid', undefined, 'unknown', '', '../../../../dev/null', "' OR '1'='1", '__proto__', LONG, 1, null, ['x']),
  ...claim('cnf', { jkt: 'x' }, { 'x5t#S256': 'x' }, {}, null, 'x'),
  ...claim('events', { 'http://schemas.openid.net/event/backchannel-logout': {} }, {}, [], null),
  ...claim('at_hash', 'h', null),
  ...claim('c_hash', 'h'),
  ...claim('nonce', 'n', 5),
  ...claim('token_use', 'id', 'refresh', '', null, ['access']),
  ...claim('typ', 'ID', 'Refresh', 'Offline', 'Logout', 'DPoP', ['Bearer'], {}),
  ...claim('token_type', 'refresh', 'id_token', 5),
  ...claim('iss', undefined, '', 'https://evil.example', 5, null, {}, ['https://evil.example']),
  ...claim('aud', undefined, '', [], [''], {}, 5, null, `${AUDIENCE}/`, AUDIENCE.slice(0, -1), AUDIENCE.toUpperCase()),
  ...claim('aud', ['https://other.example/mcp'], 'https://other.example/mcp', [[]], [{ aud: AUDIENCE }], '*'),
  ...claim('exp', undefined, null, 0, -1, now() - 5, '9999999999', [9_999_999_999], {}, true),
  ...claim('nbf', now() + 3_600, 9e15, '0', {}),
  // RFC 8693, 4.2: a string.
  ...claim('scope', [], ['mcp'], [['mcp']], {}, 5, true),
  ...claim('sub', undefined, '', null, 5, {}, ['ann'], true),
];
const FORBIDDEN: readonly Pair[] = [
  ...claim('scope', undefined, '', ' ', 'MCP', 'mc', 'mcp2', 'mcp:below', ':mcp', 'mcp:', 'openid profile', 'mcp\tx'),
  ...claim('scope', '*', '.*', 'm%63p', '__proto__', 'ops:deploy ops:read'),
];
const GOOD: readonly Pair[] = [
  ...[['nothing odd', {}] as const, ['a type', { header: { typ: 'at+jwt' } }] as const],
  ...claim('aud', [AUDIENCE], ['x', AUDIENCE]),
  ...claim('scope', 'mcp', 'a mcp b', ' mcp '),
  ...claim('nbf', 0),
  ['scp', { claims: { scope: undefined, scp: ['mcp'] } }],
];

/** An access token, and what goes with it, that may be anything but in order. */
export function forged(random: Random, issuer: TestIssuer): Forged {
  const one = ([what, { claims, header: head }]: Pair, verdict: Verdict): Forged => ({
    ...{ what, verdict, authorization: [`Bearer ${issuer.token(claims, head)}`] },
  });
  const kind = random.int(100);
  if (kind < 15) return one(random.pick(GOOD), 'good');
  if (kind < 30) return one(random.pick(FORBIDDEN), 'forbidden');
  if (kind < 60) return one(random.pick(REFUSED), 'refused');
  if (kind < 70) return one(both(random.pick(REFUSED), random.pick([...REFUSED, ...FORBIDDEN, ...GOOD])), 'refused');
  const [what, authorization] = random.pick(kind < 85 ? KEYS : SHAPES)(issuer, random);
  return { what, authorization, verdict: 'refused' };
}

/** The first header counts. */
function both([what, one]: Pair, [other, two]: Pair): Pair {
  return [
    `${what} and ${other}`,
    { claims: { ...two.claims, ...one.claims }, header: { ...two.header, ...one.header } },
  ];
}

type Forger = (issuer: TestIssuer, random: Random) => readonly [what: string, authorization: readonly string[]];
const bearer = (what: string, token: string) => [what, [`Bearer ${token}`]] as const;
const hmac = (secret: string | Buffer) => (text: string) => createHmac('sha256', secret).update(text).digest();
const claimsOf = ({ url }: TestIssuer): Claims => ({
  ...{ iss: url, aud: AUDIENCE, sub: 'ann', scope: 'mcp', iat: now(), exp: now() + 300 },
});
const secretsOf = (key: KeyObject): (string | Buffer)[] => [
  ...[key.export({ type: 'spki', format: 'pem' }), key.export({ type: 'spki', format: 'der' })],
  ...[JSON.stringify(key.export({ format: 'jwk' })), String(key.export({ format: 'jwk' }).n), '', 'secret'],
];

/** Tokens not signed with the issuer's private key, though they may say so. */
const KEYS: readonly Forger[] = [
  (issuer, random) => {
    const secret = random.pick(secretsOf(issuer.keys.publicKey));
    const alg = random.pick(['HS256', 'HS256', 'RS256', 'hs256']);
    return bearer(`${alg} with a shared secret`, jwt({ alg, kid: issuer.keys.kid }, claimsOf(issuer), hmac(secret)));
  },
  (issuer) => bearer('the key of an attacker', issuer.token({}, {}, attacker.privateKey)),
  (issuer) =>
    bearer('the key of an attacker in jwk', issuer.token({}, { jwk: { ...jwk, alg: 'RS256' } }, attacker.privateKey)),
  (issuer, random) => {
    const where = random.pick(['jku', 'x5u']);
    return bearer(where, issuer.token({}, { [where]: 'http://127.0.0.1:1/keys' }, attacker.privateKey));
  },
  (issuer) => bearer('x5c', issuer.token({}, { x5c: [jwk.n] }, attacker.privateKey)),
  (issuer, random) => {
    const alg = random.pick(['none', 'None', 'RS256', undefined]);
    return bearer(
      `no signature, alg ${alg}`,
      jwt({ alg, kid: issuer.keys.kid }, claimsOf(issuer), () => Buffer.alloc(0)),
    );
  },
  (issuer, random) => {
    const token = issuer.token();
    // The last character stays: some of its bits do not count.
    const at = random.int(token.length - 2);
    const other = token[at] === 'A' ? 'B' : 'A';
    return bearer(`another character at ${at}`, token.slice(0, at) + other + token.slice(at + 1));
  },
  (issuer) => {
    const [head, , signature] = issuer.token().split('.');
    const [, claims] = issuer.token({ sub: 'ben', scope: 'mcp ops:deploy ops:read' }).split('.');
    return bearer('claims of another token', `${head}.${claims}.${signature}`);
  },
];

const SHAPES: readonly Forger[] = [
  (issuer, random) => {
    const token = issuer.token();
    return bearer('cut off', token.slice(0, random.int(token.length - 10)));
  },
  (issuer, random) => bearer('more parts', `${issuer.token()}.${random.pick(['', 'e30', 'e30.e30'])}`),
  (_, random) => bearer('no token', random.pick(['', '.', '..', 'a.b.c', 'e30.e30.', 'e30.e30.e30', '-._~+/', 'null'])),
  (issuer) => bearer('oversize', issuer.token({ pad: 'x'.repeat(5_000), exp: 1 })),
  (issuer) => bearer('far too large', issuer.token({ pad: 'x'.repeat(20_000) })),
  (issuer, random) =>
    bearer(
      'deep',
      `${issuer.token({ pad: JSON.parse(`${'['.repeat(2_000)}${']'.repeat(2_000)}`), exp: 1 })}${random.pick(['', '='])}`,
    ),
  (issuer, random) => {
    const good = `Bearer ${issuer.token()}`;
    const others = [good, '', 'Bearer a.b.c', 'Basic YTpi', `Bearer ${issuer.token({ sub: 'ben' })}`];
    const two = [good, random.pick(others)];
    return ['two headers', random.chance(0.5) ? two : two.toReversed()];
  },
  (issuer) => ['a list', [`Bearer ${issuer.token()}, Bearer ${issuer.token()}`]],
  (issuer, random) => [
    'another scheme',
    [`${random.pick(['Basic', 'DPoP', 'Token', 'JWT', 'Bearer:', 'BearerX', ''])} ${issuer.token()}`.trim()],
  ],
  (issuer, random) => ['another separator', [`Bearer${random.pick(['', '\t', '=', ':', ','])}${issuer.token()}`]],
  (issuer, random) => ['more words', [`Bearer ${issuer.token()} ${random.pick(['x', 'mcp', 'Bearer', ';a=b'])}`]],
  (_, random) => ['no words', [random.pick(['Bearer', 'bearer', 'Bearer ', ' ', 'null', 'undefined'])]],
  () => ['no header', []],
];
