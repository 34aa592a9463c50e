import { createHash, randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import type { MoreRoutes } from './oidc.ts';

interface Grant {
  readonly client: string;
  readonly redirect: string;
  readonly challenge: string;
  readonly resource: string;
  readonly scope: string;
}

/**
 * What an authorization server adds to an issuer (RFC 8414, 7591, 7636, 8707, 9207): clients register, their user agrees
 * to everything, codes are good once. `asked` holds the scopes that were asked for, in order.
 */
export function authorizationServer(user: string): { routes: MoreRoutes; asked: string[] } {
  const clients = new Map<string, readonly string[]>();
  const grants = new Map<string, Grant>();
  const asked: string[] = [];

  const routes: MoreRoutes = async (request, response, issuer) => {
    const json = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      return true;
    };
    const { pathname, searchParams: query } = new URL(request.url ?? '/', issuer.url);
    if (pathname === '/.well-known/oauth-authorization-server') {
      return json(200, {
        issuer: issuer.url,
        authorization_endpoint: `${issuer.url}/authorize`,
        token_endpoint: `${issuer.url}/token`,
        registration_endpoint: `${issuer.url}/register`,
        response_types_supported: ['code'],
        grant_types_supported: ['authorization_code'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
        authorization_response_iss_parameter_supported: true,
      });
    }
    if (pathname === '/register') {
      const metadata = JSON.parse(await text(request)) as { redirect_uris: string[] };
      const id = randomUUID();
      clients.set(id, metadata.redirect_uris);
      return json(201, { ...metadata, client_id: id });
    }
    if (pathname === '/authorize') {
      const get = (name: string) => query.get(name) ?? '';
      const [client, redirect] = [get('client_id'), get('redirect_uri')];
      const right = get('response_type') === 'code' && get('code_challenge_method') === 'S256';
      if (!right || !clients.get(client)?.includes(redirect)) return json(400, { error: 'invalid_request' });
      const code = randomUUID();
      const [challenge, resource, scope] = [get('code_challenge'), get('resource'), get('scope')];
      grants.set(code, { client, redirect, challenge, resource, scope });
      asked.push(scope);
      const back = new URLSearchParams({ code, iss: issuer.url, state: get('state') });
      response.writeHead(302, { location: `${redirect}?${back}` }).end();
      return true;
    }
    if (pathname === '/token') {
      const form = new URLSearchParams(await text(request));
      const grant = grants.get(form.get('code') ?? '');
      grants.delete(form.get('code') ?? '');
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      const good =
        grant !== undefined &&
        grant.client === form.get('client_id') &&
        grant.redirect === form.get('redirect_uri') &&
        grant.resource === form.get('resource') &&
        grant.challenge === challenge;
      if (!good) return json(400, { error: 'invalid_grant' });
      const { scope, resource, client } = grant;
      const token = issuer.token({ sub: user, aud: resource, scope, client_id: client });
      return json(200, { access_token: token, token_type: 'Bearer', expires_in: 300, scope });
    }
    return false;
  };
  return { routes, asked };
}
