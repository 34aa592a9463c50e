import { FetchError } from 'aws-jwt-verify/error';
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
    if (response.status !== 200) throw new Error(`Status code is ${response.status}`);
    return await response.arrayBuffer();
  } catch (error) {
    // The cause says more than "fetch failed".
    throw new FetchError(uri, (error as Error).cause ?? error);
  }
}

/** Where an OpenID Connect issuer says its keys are. */
export async function discoverKeys(issuer: string): Promise<string> {
  const uri = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const document: unknown = JSON.parse(Buffer.from(await documents.fetch(uri)).toString());
  const { issuer: named, jwks_uri: keys } = Object(document) as { issuer?: unknown; jwks_uri?: unknown };
  if (named !== issuer) throw new Error('The configuration of the issuer is that of another one');
  if (typeof keys !== 'string') throw new Error('The configuration of the issuer names no keys');
  return keys;
}
