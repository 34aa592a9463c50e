import { NonRetryableFetchError } from 'aws-jwt-verify/error';
import type { Fetcher } from 'aws-jwt-verify/https';

/** Where an issuer says its keys are: by OpenID Connect Discovery, or where it answers that it has none, by RFC 8414. */
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
