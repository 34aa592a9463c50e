import { FetchError, NonRetryableFetchError } from 'aws-jwt-verify/error';
import { type Fetcher, SimpleFetcher } from 'aws-jwt-verify/https';

const secure = new SimpleFetcher();
const LOOPBACK = ['127.0.0.1', '[::1]', 'localhost'];

/** Fetches documents of the issuer: over TLS, or from this machine, where tests run theirs. */
export const documents: Fetcher = {
  fetch: (uri) => (LOOPBACK.includes(new URL(uri).hostname) ? fetchHere(uri) : secure.fetch(uri)),
};

async function fetchHere(uri: string): Promise<ArrayBuffer> {
  try {
    const response = await fetch(uri, { redirect: 'manual', signal: AbortSignal.timeout(3_000) });
    if (response.status !== 200) throw new NonRetryableFetchError(uri, `Status code is ${response.status}`);
    return await response.arrayBuffer();
  } catch (error) {
    if (error instanceof NonRetryableFetchError) throw error;
    // The cause says more than "fetch failed".
    throw new FetchError(uri, (error as Error).cause ?? error);
  }
}

/** Where an issuer says its keys are: by OpenID Connect Discovery, or where it answers that it has none, by RFC 8414. */
export async function discoverKeys(issuer: string): Promise<string> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  try {
    return await keysNamedBy(`${origin}${path}/.well-known/openid-configuration`, issuer);
  } catch (error) {
    if (!(error instanceof NonRetryableFetchError)) throw error;
    return keysNamedBy(`${origin}/.well-known/oauth-authorization-server${path}`, issuer);
  }
}

async function keysNamedBy(uri: string, issuer: string): Promise<string> {
  const document: unknown = JSON.parse(Buffer.from(await documents.fetch(uri)).toString());
  const { issuer: named, jwks_uri: keys } = Object(document) as { issuer?: unknown; jwks_uri?: unknown };
  if (named !== issuer) throw new Error('The configuration of the issuer is that of another one');
  if (typeof keys !== 'string') throw new Error('The configuration of the issuer names no keys');
  return keys;
}
