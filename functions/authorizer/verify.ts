import { JwtVerifier } from 'aws-jwt-verify';
import {
  FetchError,
  JwksValidationError,
  JwkValidationError,
  JwtNotBeforeError,
  KidNotFoundInJwksError,
  WaitPeriodNotYetEndedJwkError,
} from 'aws-jwt-verify/error';
import { type Fetcher, SimpleFetcher } from 'aws-jwt-verify/https';
import { type Jwk, SimpleJwksCache } from 'aws-jwt-verify/jwk';
import type { JwtHeader, JwtPayload } from 'aws-jwt-verify/jwt-model';
import { verifiedKey } from '../tasks/ids.ts';
import { logUnexpected } from '../tasks/log.ts';
import type { Caller } from '../tasks/tool-contract.ts';
import { discoverKeys } from './keys.ts';

export interface Issuer {
  readonly issuer: string;
  /** One of these must be in the token's `aud`. */
  readonly audience: readonly string[];
  /** The URL of its keys. @default the URL in its OpenID Connect configuration or its metadata (RFC 8414) */
  readonly jwksUri?: string;
  /** The claims that tools see. @default none */
  readonly callerClaims?: readonly string[];
}

export interface VerifierOptions {
  /** Fetches documents of the issuer. @default over TLS */
  readonly fetcher?: Fetcher;
  /** The time, in milliseconds since the epoch. @default Date.now */
  readonly now?: () => number;
}

/** The holder of a token, by its verified claims. */
export interface TokenCaller {
  /** The owner of the caller's tasks: a hash of issuer and subject. */
  readonly owner: string;
  readonly scopes: readonly string[];
  /** What tools see of the holder. */
  readonly caller: Caller;
}

/**
 * Verifies a token. `invalid`: it will never be valid here. `unknown yet`: it is not valid yet, or its issuer has not
 * published its key yet. Throws if the keys could not be read.
 */
export type Verify = (token: string) => Promise<TokenCaller | 'invalid' | 'unknown yet'>;

const OUTAGES = [FetchError, JwksValidationError, JwkValidationError];
const PASSING = [JwtNotBeforeError, KidNotFoundInJwksError, WaitPeriodNotYetEndedJwkError];

/** How long keys stay in use, in milliseconds. A key that the issuer withdraws counts for at most this much longer. */
const KEYS_VALID_MS = 300_000;

/**
 * Verifies access tokens by the issuer's keys. It fetches them every five minutes, and again for an unknown key id, at
 * most every ten seconds. If a fetch fails, the keys of the last fetch stay in use. Only signatures by a private key
 * count: the token does not choose the algorithm (aws-jwt-verify).
 */
export function verifier(props: Issuer, options: VerifierOptions = {}): Verify {
  const { issuer, jwksUri } = props;
  const { fetcher = new SimpleFetcher(), now = Date.now } = options;
  const create = async () => {
    const uri = jwksUri ?? (await discoverKeys(issuer, fetcher));
    const jwksCache = new SimpleJwksCache({ fetcher });
    const jwt = JwtVerifier.create({ issuer, audience: null, jwksUri: uri, customJwtCheck }, { jwksCache });
    await jwt.hydrate();
    return jwt;
  };
  let ready: ReturnType<typeof create> | undefined;
  let readAt = 0;
  const currentVerifier = () => {
    if (ready !== undefined && now() - readAt < KEYS_VALID_MS) return ready;
    const before = ready;
    readAt = now();
    ready = create().catch((error: unknown) => {
      ready = before;
      if (before === undefined) throw error;
      logUnexpected(error, 'keys of the issuer');
      return before;
    });
    return ready;
  };
  return async (token) => {
    const jwt = await currentVerifier();
    try {
      return tokenCaller(await jwt.verify(token), props);
    } catch (error) {
      if (OUTAGES.some((kind) => error instanceof kind)) throw error;
      return PASSING.some((kind) => error instanceof kind) ? 'unknown yet' : 'invalid';
    }
  };
}

/** The first letters of the algorithms of each type of key. */
const FAMILIES: Readonly<Record<string, string>> = { RSA: 'RS', EC: 'ES', OKP: 'Ed' };

/** The least size of an RSA key (RFC 7518, 3.3). */
const LEAST_RSA_BITS = 2_048;

const bitsOf = (modulus: unknown): number =>
  BigInt(`0x0${Buffer.from(String(modulus), 'base64url').toString('hex')}`).toString(2).length;

/** The types that the header of an access token may name (RFC 9068, 2.1). Other JWTs of an issuer name their own. */
const HEADER_TYPES: readonly unknown[] = [undefined, 'jwt', 'at+jwt', 'application/at+jwt'];

/**
 * Rejects a token that names an algorithm of another kind of key: the library reads the algorithm from the key. Also
 * rejects a short RSA key, and `crit`, as this server understands no extension (RFC 7515, 4.1.11).
 */
function customJwtCheck({ header, jwk }: { header: JwtHeader; jwk: Jwk }): void {
  const { alg, typ, crit } = header as JwtHeader & { readonly typ?: unknown; readonly crit?: unknown };
  if (FAMILIES[jwk.kty] !== alg?.slice(0, 2)) throw new Error('The algorithm does not fit this key');
  if (jwk.kty === 'RSA' && bitsOf(jwk.n) < LEAST_RSA_BITS) throw new Error('The key is too short');
  if (crit !== undefined) throw new Error('The token has an extension that is not understood');
  if (!HEADER_TYPES.includes(lowerCase(typ))) throw new Error('The token is of another type');
}

/** Names of access tokens in the claims below, where Keycloak, Cognito and others name the kind of a token. */
const ACCESS: readonly unknown[] = ['bearer', 'access', 'access_token', 'jwt', 'at+jwt'];

/**
 * Whether the claims belong to an access token that counts as a bearer token. `cnf` binds a token to a key, which a
 * bearer does not prove (RFC 7800). `events` marks a logout or another security event token (RFC 8417). `at_hash`,
 * `c_hash` and `nonce` are claims of ID tokens, but Keycloak before version 25 copies `nonce` into access tokens, too.
 */
function isBearerToken({ typ, token_use: use, token_type: type, ...claims }: JwtPayload): boolean {
  const named = [typ, use, type].filter((kind) => kind !== undefined);
  if (!named.every((kind) => ACCESS.includes(lowerCase(kind)))) return false;
  const foreign = ['cnf', 'events', 'at_hash', 'c_hash', ...(named.length > 0 ? [] : ['nonce'])];
  return foreign.every((claim) => claims[claim] === undefined);
}

const lowerCase = (value: unknown): unknown => (typeof value === 'string' ? value.toLowerCase() : value);

/** Checks what the library does not: the token expires, is for this server, is an access token, and names its holder. */
function tokenCaller(payload: JwtPayload, { issuer, audience, callerClaims = [] }: Issuer): TokenCaller | 'invalid' {
  const { exp, aud, sub, token_use: use } = payload;
  const client = [payload.client_id, payload.azp].find((id) => typeof id === 'string' && id !== '');
  // Access tokens of Cognito name their client and, without resource binding, no audience.
  const meantFor = aud === undefined && use === 'access' ? [client] : [aud].flat();
  const isForThisServer = meantFor.some((one) => audience.includes(String(one)));
  if (exp === undefined || !isForThisServer || !isBearerToken(payload)) return 'invalid';
  const scopes = [payload.scope ?? payload.scp ?? []].flat().flatMap((scope) => String(scope).split(' '));
  const subject = typeof sub === 'string' && sub !== '' ? sub : undefined;
  const listed = callerClaims
    .filter((name) => Object.hasOwn(payload, name))
    .map((name) => [name, payload[name]] as const);
  const caller = {
    ...(subject !== undefined && { subject }),
    ...(client !== undefined && { client: String(client) }),
    ...(listed.length > 0 && { claims: Object.fromEntries(listed) }),
  };
  const known = { scopes: scopes.filter((scope) => scope !== ''), caller };
  if (subject !== undefined) return { owner: verifiedKey(issuer, 'user', subject), ...known };
  return client === undefined ? 'invalid' : { owner: verifiedKey(issuer, 'client', String(client)), ...known };
}
