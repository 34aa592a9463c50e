import { App, Stack } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { describe, expect, test } from 'vitest';
import { type Auth, anonymous, iam, McpTaskServer, type McpTaskServerProps, oauth } from '../../lib/index.ts';

function makeStack(auth: Auth, props: Partial<McpTaskServerProps> = {}, scopes?: readonly string[]) {
  const stack = new Stack(new App(), 'S');
  const code = Code.fromInline('exports.handler = async () => 1');
  const handler = new LambdaFunction(stack, 'F', { runtime: Runtime.NODEJS_24_X, handler: 'index.handler', code });
  const server = new McpTaskServer(stack, 'Server', { auth, ...props });
  const tool = { handler, description: 'd', inputSchema: { type: 'object' } };
  server.addTool('plain', tool);
  if (scopes !== undefined) server.addTool('scoped', { ...tool, scopes });
  return stack;
}

const publicUrl = 'https://mcp.example.com';
const protectedBy = oauth({ issuer: 'https://login.example.com', audience: `${publicUrl}/mcp`, scopes: ['mcp'] });

/** The methods of the API, by path and verb. */
function methods(template: Template) {
  const resources = template.toJSON().Resources;
  const pathOf = (id: unknown): string => {
    const { Ref } = id as { Ref?: string };
    return Ref === undefined
      ? ''
      : `${pathOf(resources[Ref].Properties.ParentId)}/${resources[Ref].Properties.PathPart}`;
  };
  const all = Object.values(template.findResources('AWS::ApiGateway::Method')).map(({ Properties: p }) => [
    `${p.HttpMethod} ${pathOf(p.ResourceId)}`,
    p.AuthorizationType,
    p.Integration.Type,
  ]);
  return all.sort();
}

describe('oauth', () => {
  const template = Template.fromStack(makeStack(protectedBy, { publicUrl }, ['ops:deploy']));
  const WELL_KNOWN = '/.well-known/oauth-protected-resource';

  test('only preflights, the metadata and nothing else are open', () => {
    expect(methods(template)).toEqual(
      [
        [`GET ${WELL_KNOWN}`, 'NONE', 'MOCK'],
        [`GET ${WELL_KNOWN}/mcp`, 'NONE', 'MOCK'],
        [`OPTIONS ${WELL_KNOWN}`, 'NONE', 'MOCK'],
        [`OPTIONS ${WELL_KNOWN}/mcp`, 'NONE', 'MOCK'],
        ['OPTIONS /mcp', 'NONE', 'AWS_PROXY'],
        ['OPTIONS /mcp/challenge', 'NONE', 'AWS_PROXY'],
        ['ANY /mcp/challenge', 'CUSTOM', 'MOCK'],
        ...['DELETE', 'GET', 'PATCH', 'POST', 'PUT'].map((verb) => [`${verb} /mcp`, 'CUSTOM', 'AWS_PROXY']),
      ].sort(),
    );
  });

  test('nobody has a key to the challenge', () => {
    const locked = Object.values(template.findResources('AWS::ApiGateway::Method')).filter(
      ({ Properties }) => Properties.ApiKeyRequired === true,
    );
    expect(locked.map(({ Properties }) => Properties.HttpMethod)).toEqual(['ANY']);
    for (const type of ['ApiKey', 'UsagePlan']) template.resourceCountIs(`AWS::ApiGateway::${type}`, 0);
  });

  test('answers of the authorizer are kept by the Authorization header for five minutes, at the challenge not at all', () => {
    const all = Object.values(template.findResources('AWS::ApiGateway::Authorizer')).map(({ Properties: p }) => [
      ...[p.Type, p.IdentitySource, p.AuthorizerResultTtlInSeconds],
    ]);
    const source = 'method.request.header.Authorization';
    expect(all.sort()).toEqual([
      ['REQUEST', source, 0],
      ['REQUEST', source, 300],
    ]);
  });

  test('the authorizer may write its logs and nothing else', () => {
    const policies = Object.entries(template.findResources('AWS::IAM::Policy')).filter(([id]) => /Authorizer/.test(id));
    expect(policies.flatMap(([, { Properties }]) => Properties.PolicyDocument.Statement)).toEqual([
      {
        Effect: 'Allow',
        Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        Resource: { 'Fn::GetAtt': [expect.stringMatching(/AuthorizerLogs/), 'Arn'] },
      },
    ]);
    const role = Object.entries(template.findResources('AWS::IAM::Role')).find(([id]) => /AuthorizerRole/.test(id));
    expect(Object.keys(role?.[1].Properties)).toEqual(['AssumeRolePolicyDocument']);
  });

  const metadata = `resource_metadata="${publicUrl}${WELL_KNOWN}/mcp"`;
  const answer = (type: string) =>
    Object.values(template.findResources('AWS::ApiGateway::GatewayResponse', { Properties: { ResponseType: type } }))[0]
      ?.Properties.ResponseParameters;
  const cors = {
    'gatewayresponse.header.Access-Control-Allow-Origin': `'*'`,
    'gatewayresponse.header.Access-Control-Expose-Headers': `'WWW-Authenticate, Retry-After'`,
  };

  test('API Gateway challenges in our words, and lets browsers read them', () => {
    const name = 'gatewayresponse.header.WWW-Authenticate';
    expect(answer('UNAUTHORIZED')).toEqual({ ...cors, [name]: `'Bearer scope="mcp", ${metadata}'` });
    expect(answer('ACCESS_DENIED')).toEqual({
      ...cors,
      [name]: `'Bearer error="invalid_token", scope="mcp", ${metadata}'`,
    });
    expect(answer('INVALID_API_KEY')).toEqual({ ...cors, [name]: 'context.authorizer.challenge' });
    expect(answer('DEFAULT_4XX')).toEqual(cors);
    expect(answer('DEFAULT_5XX')).toMatchObject(cors);
  });

  test('without scopes of tools every refusal is the same', () => {
    Template.fromStack(makeStack(protectedBy, { publicUrl })).hasResourceProperties(
      'AWS::ApiGateway::GatewayResponse',
      {
        ResponseType: 'INVALID_API_KEY',
        ResponseParameters: Match.objectLike({
          'gatewayresponse.header.WWW-Authenticate': `'Bearer error="insufficient_scope", scope="mcp", ${metadata}'`,
        }),
      },
    );
  });

  test('without a publicUrl the metadata names the URL of the stage', () => {
    const { issuer } = protectedBy;
    const plain = Template.fromStack(makeStack(oauth({ issuer, audience: 'a' })));
    const documents = Object.values(plain.findResources('AWS::ApiGateway::Method'))
      .map(({ Properties }) => Properties.Integration.IntegrationResponses?.[0].ResponseTemplates?.['application/json'])
      .filter((document) => document?.['Fn::Join'] !== undefined);
    const text = JSON.stringify(
      documents[0]['Fn::Join'][1].map((part: unknown) => (typeof part === 'string' ? part : '_')).join(''),
    );
    expect(JSON.parse(JSON.parse(text))).toEqual({
      resource: 'https://_.execute-api._._/v1/mcp',
      authorization_servers: [issuer],
      bearer_methods_supported: ['header'],
    });
  });

  test.each([
    ['an issuer that is no URL', () => oauth({ issuer: 'login', audience: 'a' })],
    ['an issuer without TLS', () => oauth({ issuer: 'http://login.example.com', audience: 'a' })],
    ['an issuer with a query', () => oauth({ issuer: 'https://login.example.com?a', audience: 'a' })],
    ['keys without TLS', () => oauth({ issuer: 'https://a.example', audience: 'a', jwksUri: 'http://a.example/keys' })],
    ['no audience', () => oauth({ issuer: 'https://a.example', audience: [] })],
    ['an empty audience', () => oauth({ issuer: 'https://a.example', audience: '' })],
    ['a scope that breaks the header', () => oauth({ issuer: 'https://a.example', audience: 'a', scopes: ['a"b'] })],
    ['offline_access (G-11)', () => oauth({ issuer: 'https://a.example', audience: 'a', scopes: ['offline_access'] })],
    ['a publicUrl that ends with a slash', () => makeStack(protectedBy, { publicUrl: 'https://a.example/' })],
    ['a publicUrl without TLS', () => makeStack(protectedBy, { publicUrl: 'http://a.example' })],
    ['scopes of a tool that are none', () => makeStack(protectedBy, {}, ['a b'])],
    ['scopes of a tool without tokens', () => makeStack(iam(), {}, ['a'])],
    ['a scope of a tool that no caller can lack', () => makeStack(protectedBy, {}, ['ops', 'mcp:deploy'])],
  ])('%s is refused at synth', (_title, make) => {
    expect(make).toThrow(/^(oauth|McpTaskServer: publicUrl|Tool 'scoped')/);
  });
});

test('iam: everything but the preflight is signed, and there is nothing of OAuth', () => {
  const template = Template.fromStack(makeStack(iam()));
  expect(methods(template)).toEqual(
    [
      ['OPTIONS /mcp', 'NONE', 'AWS_PROXY'],
      ...['DELETE', 'GET', 'PATCH', 'POST', 'PUT'].map((v) => [`${v} /mcp`, 'AWS_IAM', 'AWS_PROXY']),
    ].sort(),
  );
  template.resourceCountIs('AWS::ApiGateway::Authorizer', 0);
  for (const ResponseType of ['UNAUTHORIZED', 'ACCESS_DENIED']) {
    template.resourcePropertiesCountIs('AWS::ApiGateway::GatewayResponse', { ResponseType }, 0);
  }
});

test('anonymous is said aloud at synth, the others are not', () => {
  const warnings = (auth: Auth) => Annotations.fromStack(makeStack(auth)).findWarning('*', Match.anyValue());
  expect(warnings(anonymous()).map(({ entry }) => entry.data)).toEqual([
    expect.stringMatching(/anonymous\(\): whoever reaches the endpoint may call every tool.*mcp-task-server:anonymous/),
  ]);
  for (const auth of [protectedBy, iam()]) expect(warnings(auth)).toEqual([]);
});
