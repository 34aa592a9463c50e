import { JwtVerifier } from 'aws-jwt-verify';
import {
  FetchError,
  JwksValidationError,
  JwkValidationError,
  JwtNotBeforeError,
  KidNotFoundInJwksError,
  WaitPeriodNotYetEndedJwkError,
} from 'aws-jwt-verify/error';
import { type Jwk, SimpleJwksCache } from 'aws-jwt-verify/jwk';
import type { JwtHeader, JwtPayload } from 'aws-jwt-verify/jwt-model';
import { logUnexpected } from '../mcp/log.ts';
import { verifiedKey } from '../tasks/ids.ts';
import { discoverKeys, documents } from './keys.ts';

export interface Issuer {
  readonly issuer: string;
  /** One of these must be in the token's `aud`. */
  readonly audience: readonly string[];
  /** Where its keys are. @default what its OpenID Connect configuration says */
  readonly jwksUri?: string;
}

/** Who holds a token, by its verified claims. */
export interface TokenCaller {
  /** Whose tasks are theirs: a hash of issuer and subject. */
  readonly owner: string;
  readonly scopes: readonly string[];
  /** When the token expires, in seconds since the epoch. */
  readonly expires: number;
}

/**
 * `invalid` for a token that is not good here and never will be; `unknown yet` for one that is not valid yet, or whose
 * key the issuer has not published so far. Throws when none of it could be found out.
 */
export type Verify = (token: string) => Promise<TokenCaller | 'invalid' | 'unknown yet'>;

const OUTAGES = [FetchError, JwksValidationError, JwkValidationError];
const PASSING = [JwtNotBeforeError, KidNotFoundInJwksError, WaitPeriodNotYetEndedJwkError];

/** How long the issuer's keys are believed: so much longer, at most, does one count that it has taken back. */
const BELIEVED = 300_000;

/**
 * Verifies access tokens by the issuer's keys, which are fetched every five minutes, and again for a key id that is not
 * among them; while there is none, every ten seconds at most. When they cannot be fetched, those that are there go on.
 * Only signatures made with a private key count, whatever a token says of itself (aws-jwt-verify).
 */
export function verifier({ issuer, audience, jwksUri }: Issuer, now = Date.now): Verify {
  const create = async () => {
    const uri = jwksUri ?? (await discoverKeys(issuer));
    const jwksCache = new SimpleJwksCache({ fetcher: documents });
    const jwt = JwtVerifier.create({ issuer, audience: null, jwksUri: uri, customJwtCheck }, { jwksCache });
    await jwt.hydrate();
    return jwt;
  };
  let ready: ReturnType<typeof create> | undefined;
  let readAt = 0;
  const believed = () => {
    if (ready !== undefined && now() - readAt < BELIEVED) return ready;
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
    const jwt = await believed();
    try {
      return callerOf(await jwt.verify(token), issuer, audience);
    } catch (error) {
      if (OUTAGES.some((kind) => error instanceof kind)) throw error;
      return PASSING.some((kind) => error instanceof kind) ? 'unknown yet' : 'invalid';
    }
  };
}

/** By the first letters of the algorithm, by the type of the key. */
const FAMILIES: Readonly<Record<string, string>> = { RSA: 'RS', EC: 'ES', OKP: 'Ed' };

/** The library goes by the key alone; a token that names an algorithm of other keys was not made as it should be. */
function customJwtCheck({ header, jwk }: { header: JwtHeader; jwk: Jwk }): void {
  if (FAMILIES[jwk.kty] !== header.alg?.slice(0, 2)) throw new Error('The algorithm is none of this key');
}

/** What the library leaves to us: that a token ends, is meant for us, is no ID token, and says whose it is. */
function callerOf(payload: JwtPayload, issuer: string, audience: readonly string[]): TokenCaller | 'invalid' {
  const { exp, aud, sub, token_use: use } = payload;
  const client = [payload.client_id, payload.azp].find((id) => typeof id === 'string' && id !== '');
  // Access tokens of Cognito name their client and, without resource binding, no audience.
  const meantFor = aud === undefined && use === 'access' ? [client] : [aud].flat();
  if (exp === undefined || use === 'id' || !meantFor.some((one) => audience.includes(String(one)))) return 'invalid';
  const scopes = [payload.scope ?? payload.scp ?? []].flat().flatMap((scope) => String(scope).split(' '));
  const known = { scopes: scopes.filter((scope) => scope !== ''), expires: exp };
  if (typeof sub === 'string' && sub !== '') return { owner: verifiedKey(issuer, 'user', sub), ...known };
  return client === undefined ? 'invalid' : { owner: verifiedKey(issuer, 'client', String(client)), ...known };
}
