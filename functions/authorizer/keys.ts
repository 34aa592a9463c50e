import { NonRetryableFetchError } from 'aws-jwt-verify/error';
import type { Fetcher } from 'aws-jwt-verify/https';

/** Finds the URL of an issuer's keys: by OpenID Connect Discovery, or by RFC 8414 if the issuer answers that it has none. */
export async function discoverKeys(issuer: string, fetcher: Fetcher): Promise<string> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  try {
    return await keysNamedBy(`${origin}${path}/.well-known/openid-configuration`, issuer, fetcher);
  } catch (error) {
    if (!(error instanceof NonRetryableFetchError)) throw error;
    return keysNamedBy(`${origin}/.well-known/oauth-authorization-server${path}`, issuer, fetcher);
  }
}

async function keysNamedBy(uri: string, issuer: string, fetcher: Fetcher): Promise<string> {
  const document: unknown = JSON.parse(Buffer.from(await fetcher.fetch(uri)).toString());
  const { issuer: named, jwks_uri: keys } = Object(document) as { issuer?: unknown; jwks_uri?: unknown };
  if (named !== issuer) throw new Error("The issuer's configuration names a different issuer");
  if (typeof keys !== 'string') throw new Error("The issuer's configuration names no keys");
  return keys;
}
