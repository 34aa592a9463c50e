import { Lazy, Stack } from 'aws-cdk-lib';
import { type IAuthorizer, MockIntegration, ResponseType, type RestApi } from 'aws-cdk-lib/aws-apigateway';
import type { Construct } from 'constructs';
import type { ToolEntry } from '../../functions/mcp/manifest.ts';
import type { OAuth } from '../auth/auth.ts';
import { Authorizer } from '../auth/authorizer.ts';
import { BundledCode, bundleAuthorizer } from '../bundles.ts';
import type { StorageProps } from '../storage/log-group.ts';
import { ANSWER_HEADERS, rpcTemplate } from './gateway-responses.ts';

export interface OAuthRoutesProps {
  readonly serverName: string;
  readonly api: RestApi;
  readonly auth: OAuth;
  /** The part of the URL before `/mcp`. */
  readonly url: string;
  readonly tools: () => readonly ToolEntry[];
  readonly storage: StorageProps;
}

const METADATA = '.well-known/oauth-protected-resource';

/** The most characters of all scopes: they are in one header, and clients limit headers (Node.js: 16 KB for all). */
const MAX_SCOPES = 2_048;

/** Adds the refusals and the metadata of OAuth to the API. Returns the authorizer of `/mcp`. */
export function oauthRoutes(scope: Construct, props: OAuthRoutesProps): IAuthorizer {
  const { serverName, auth, tools, storage } = props;
  const code = new BundledCode((use) => bundleAuthorizer(tools(), auth, use));
  const authorizer = new Authorizer(scope, 'Authorizer', { serverName, auth, code, tools, storage });
  addRefusals(props);
  addMetadata(scope, props);
  return authorizer.ofRequests;
}

/** The scopes of the server and of its tools. */
function allScopes({ auth, tools }: OAuthRoutesProps): string[] {
  const all = [...new Set([...auth.scopes, ...tools().flatMap(({ scopes = [] }) => scopes)])];
  const { length } = all.join(' ');
  if (length <= MAX_SCOPES) return all;
  throw new Error(
    `Auth.oauth: the scopes of the server and its tools take ${length} characters, ${MAX_SCOPES} at most`,
  );
}

/**
 * Makes 401 and 403 gateway responses: API Gateway renames the `WWW-Authenticate` of a function (G-17). A header of a
 * gateway response is a fixed text, the same for every caller. So a 403 names all scopes of the server and its tools.
 */
function addRefusals(props: OAuthRoutesProps): void {
  const { api, auth } = props;
  const refuse = (id: string, type: ResponseType, statusCode: string, challenge: string, message: string) =>
    api.addGatewayResponse(id, {
      type,
      statusCode,
      responseHeaders: { ...ANSWER_HEADERS, 'WWW-Authenticate': `'Bearer ${challenge}'` },
      templates: rpcTemplate(-32600, JSON.stringify(message)),
    });
  const metadata = `resource_metadata="${props.url}/${METADATA}/mcp"`;
  const scopeOf = (scopes: readonly string[]) => (scopes.length === 0 ? '' : `scope="${scopes.join(' ')}", `);
  const token = scopeOf(auth.scopes) + metadata;
  refuse('Unauthorized', ResponseType.UNAUTHORIZED, '401', token, 'Unauthorized: send a valid access token');
  const all = Lazy.string({ produce: () => scopeOf(allScopes(props)) });
  const more = `error="insufficient_scope", ${all}${metadata}`;
  refuse('AccessDenied', ResponseType.ACCESS_DENIED, '403', more, 'Forbidden: the access token lacks a scope');
}

/** Adds the metadata of RFC 9728, at the root and for the path of the endpoint (G-05 to G-07). It needs no token. */
function addMetadata(scope: Construct, props: OAuthRoutesProps): void {
  const { api, auth, url } = props;
  const document = Stack.of(scope).toJsonString({
    resource: `${url}/mcp`,
    authorization_servers: [auth.issuer],
    scopes_supported: Lazy.list({ produce: () => allScopes(props) }, { omitEmpty: true }),
    bearer_methods_supported: ['header'],
  });
  const headers = {
    'Access-Control-Allow-Origin': `'*'`,
    'Cache-Control': `'max-age=3600'`,
    'X-Content-Type-Options': `'nosniff'`,
  };
  const named = Object.entries(headers).map(([name, value]) => [`method.response.header.${name}`, value] as const);
  const answer = new MockIntegration({
    requestTemplates: { 'application/json': '{ "statusCode": 200 }' },
    integrationResponses: [
      {
        statusCode: '200',
        responseParameters: Object.fromEntries(named),
        responseTemplates: { 'application/json': document },
      },
    ],
  });
  const responseParameters = Object.fromEntries(named.map(([name]) => [name, true]));
  const root = api.root.resourceForPath(METADATA);
  for (const place of [root, root.addResource('mcp')]) {
    place.addMethod('GET', answer, { methodResponses: [{ statusCode: '200', responseParameters }] });
    place.addCorsPreflight({ allowOrigins: ['*'], allowMethods: ['GET'], allowHeaders: ['mcp-protocol-version'] });
  }
}
