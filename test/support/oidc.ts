import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { createServer } from 'node:http';
import { close, listen } from '../../local/testing.ts';

/** An OpenID Connect issuer on this machine: new keys, a JWKS over HTTP, and tokens with the claims of a test. */
export interface TestIssuer {
  readonly url: string;
  readonly keys: KeyPair;
  /** How often its keys were fetched. */
  readonly fetches: () => number;
  /** An access token, valid for five minutes unless its claims or its header say otherwise. */
  token(claims?: Claims, header?: Header, key?: KeyObject): string;
  /** New keys under a new id; the JWKS then has both. */
  rotate(): void;
  /** Stops answering. */
  stop(): Promise<void>;
}

export type Claims = Readonly<Record<string, unknown>>;
export type Header = Readonly<Record<string, unknown>>;

export interface KeyPair {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export const AUDIENCE = 'https://mcp.example.com/mcp';

function newKeys(): KeyPair {
  return { kid: randomUUID(), ...generateKeyPairSync('rsa', { modulusLength: 2048 }) };
}

export async function startIssuer(): Promise<TestIssuer> {
  const all = [newKeys()];
  let fetches = 0;
  const current = () => all.at(-1) ?? newKeys();
  const server = createServer((request, response) => {
    const json = (body: object) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    if (request.url === '/.well-known/openid-configuration') {
      json({ issuer: issuer.url, jwks_uri: `${issuer.url}/keys` });
    } else if (request.url === '/keys') {
      fetches++;
      json({ keys: all.map(({ kid, publicKey }) => ({ ...publicKey.export({ format: 'jwk' }), kid, use: 'sig' })) });
    } else response.writeHead(404).end();
  });
  const url = await listen(server, 0);
  const issuer: TestIssuer = {
    url,
    get keys() {
      return current();
    },
    fetches: () => fetches,
    token(claims = {}, header = {}, key = current().privateKey) {
      const now = Math.floor(Date.now() / 1_000);
      const base = { iss: url, aud: AUDIENCE, sub: 'ann', scope: 'mcp', iat: now, exp: now + 300 };
      return jwt({ alg: 'RS256', kid: current().kid, ...header }, { ...base, ...claims }, (text) =>
        sign('sha256', Buffer.from(text), key),
      );
    },
    rotate: () => void all.push(newKeys()),
    stop: () => close(server),
  };
  return issuer;
}

/** Claims that are undefined are left out. */
export function jwt(header: Header, claims: Claims, signature: (text: string) => Buffer): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part(header)}.${part(claims)}`;
  return `${text}.${signature(text).toString('base64url')}`;
}
