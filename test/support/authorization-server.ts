import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import Provider from 'oidc-provider';
import { close, listen } from '../../local/testing.ts';

/**
 * A real authorization server (npm: oidc-provider) on this machine, with one user and one client. The client is
 * registered beforehand: one that registers itself names the scopes of its first request, and this server holds it to
 * them, so that it could never ask for more.
 */
export interface AuthorizationServer {
  readonly url: string;
  /** Acts as the user's browser on the URL of an authorization request. Returns the URL of the callback. */
  browse(url: URL): Promise<URLSearchParams>;
  stop(): Promise<void>;
}

/** The callback of clients. Nothing listens there: `browse` stops before. */
export const REDIRECT = 'http://127.0.0.1/callback';
export const CLIENT = 'test';
const USER = 'ann';

/** @param scopes the scopes of every resource */
export async function startAuthorizationServer(scopes: readonly string[]): Promise<AuthorizationServer> {
  // Its URL is its name, so the URL must be known first.
  let handle: (request: IncomingMessage, response: ServerResponse) => Promise<void> = async () => {};
  const http = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  const url = await listen(http, 0);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const provider = new Provider(url, {
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: 'RS256' }] },
    cookies: { keys: [randomUUID()] },
    clients: [
      {
        ...{ client_id: CLIENT, redirect_uris: [REDIRECT], application_type: 'native' },
        ...{ token_endpoint_auth_method: 'none', grant_types: ['authorization_code'], response_types: ['code'] },
      },
    ],
    findAccount: (_context, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    ttl: { AccessToken: 300, Grant: 300, Interaction: 300, Session: 300 },
    features: {
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({ scope: scopes.join(' '), accessTokenFormat: 'jwt' }),
      },
    },
  });
  const serve = provider.callback();

  /** The user says who they are, and agrees to all scopes that the client asks for. */
  async function interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { prompt, params } = await provider.interactionDetails(request, response);
    if (prompt.name === 'login') {
      return provider.interactionFinished(request, response, { login: { accountId: USER } });
    }
    const grant = new provider.Grant({ accountId: USER, clientId: String(params.client_id) });
    grant.addResourceScope(String(params.resource), String(params.scope));
    return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
  }
  handle = (request, response) =>
    request.url?.startsWith('/interaction/') ? interact(request, response) : serve(request, response);

  return {
    url,
    async browse(start) {
      const cookies = new Map<string, string>();
      for (let at = start; ; ) {
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
        const response = await fetch(at, { redirect: 'manual', headers: { cookie } });
        for (const line of response.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
          if (value === '') cookies.delete(name);
          else cookies.set(name, value);
        }
        const location = response.headers.get('location');
        if (location === null) throw new Error(`${response.status} ${await response.text()}`);
        at = new URL(location, at);
        if (at.href.startsWith(REDIRECT)) return at.searchParams;
      }
    },
    stop: () => close(http),
  };
}
