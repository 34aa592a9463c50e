import { Lazy, Stack } from 'aws-cdk-lib';
import {
  type IAuthorizer,
  type Integration,
  MockIntegration,
  type Resource,
  ResponseType,
  type RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import type { Construct } from 'constructs';
import { CHALLENGE, challenge } from '../functions/authorizer/challenge.ts';
import type { ToolEntry } from '../functions/mcp/manifest.ts';
import type { OAuth } from './auth.ts';
import { Authorizer } from './authorizer.ts';
import { OPEN_TO_PAGES, rpcTemplate } from './gateway-answers.ts';
import type { Keeping } from './logs.ts';
import { bundleAuthorizer, McpCode } from './mcp-code.ts';

export interface OAuthDoorProps {
  readonly api: RestApi;
  readonly mcp: Resource;
  /** The endpoint, which answers the preflights of browsers. */
  readonly integration: Integration;
  readonly auth: OAuth;
  /** What stands before `/mcp`. */
  readonly url: string;
  readonly tools: () => readonly ToolEntry[];
  readonly keeping: Keeping;
}

const METADATA = '.well-known/oauth-protected-resource';
/** All that OAuth puts before the endpoint; gives the authorizer of `/mcp`. */
export function oauthDoor(scope: Construct, props: OAuthDoorProps): IAuthorizer {
  const { mcp, integration, auth, url, tools, keeping } = props;
  const metadata = `${url}/${METADATA}/mcp`;
  const code = new McpCode((use) => bundleAuthorizer(tools(), use));
  const authorizer = new Authorizer(scope, 'Authorizer', { auth, code, metadata, keeping });

  const door = mcp.addResource(CHALLENGE);
  const nothing = new MockIntegration({
    requestTemplates: { 'application/json': '{ "statusCode": 403 }' },
    integrationResponses: [{ statusCode: '403' }],
  });
  door.addMethod('ANY', nothing, {
    ...{ authorizer: authorizer.challenge, methodResponses: [{ statusCode: '403' }] },
    // There is none: API Gateway refuses everybody, after its authorizer has said in which words.
    apiKeyRequired: true,
  });
  door.addMethod('OPTIONS', integration);

  addRefusals(props, metadata);
  addMetadata(scope, props);
  return authorizer.door;
}

/** API Gateway refuses in our words, since it renames the `WWW-Authenticate` of a function (G-17). */
function addRefusals({ api, auth, tools }: OAuthDoorProps, metadata: string): void {
  const refusal = (message: string) => rpcTemplate(-32600, JSON.stringify(message));
  // Without a token, or with one that may yet turn out good: no error code (RFC 6750, 3.1).
  api.addGatewayResponse('Unauthorized', {
    type: ResponseType.UNAUTHORIZED,
    statusCode: '401',
    responseHeaders: { ...OPEN_TO_PAGES, 'WWW-Authenticate': `'${challenge(metadata, auth.scopes)}'` },
    templates: refusal('Unauthorized: send a valid access token'),
  });
  api.addGatewayResponse('AccessDenied', {
    type: ResponseType.ACCESS_DENIED,
    statusCode: '401',
    responseHeaders: { ...OPEN_TO_PAGES, 'WWW-Authenticate': `'${challenge(metadata, auth.scopes, 'invalid_token')}'` },
    templates: refusal('Unauthorized: the access token is not valid'),
  });
  // Of the challenge, the only method that wants an API key. Its authorizer has been asked by then.
  const always = `'${challenge(metadata, auth.scopes, 'insufficient_scope')}'`;
  const byTool = () => tools().some(({ scopes }) => scopes !== undefined);
  api.addGatewayResponse('InsufficientScope', {
    type: ResponseType.INVALID_API_KEY,
    statusCode: '403',
    responseHeaders: {
      ...OPEN_TO_PAGES,
      'WWW-Authenticate': Lazy.string({ produce: () => (byTool() ? 'context.authorizer.challenge' : always) }),
    },
    templates: refusal('Forbidden: the access token lacks a scope'),
  });
}

/** RFC 9728, at the root and for the path of the endpoint (G-05 to G-07); nobody needs a token for it. */
function addMetadata(scope: Construct, { api, auth, url, tools }: OAuthDoorProps): void {
  const supported = () => [...new Set([...auth.scopes, ...tools().flatMap(({ scopes = [] }) => scopes)])];
  const document = Stack.of(scope).toJsonString({
    resource: `${url}/mcp`,
    authorization_servers: [auth.issuer],
    scopes_supported: Lazy.list({ produce: supported }, { omitEmpty: true }),
    bearer_methods_supported: ['header'],
  });
  const headers = { 'Access-Control-Allow-Origin': `'*'`, 'Cache-Control': `'max-age=3600'` };
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
