import { App, Stack } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { neededScopes } from '../../lib/auth/auth.ts';
import { Auth, McpTaskServer, type McpTaskServerProps } from '../../lib/index.ts';
import { inlineFunction } from '../support/inline-function.ts';

function makeStack(
  auth: Auth,
  props: Partial<McpTaskServerProps> = {},
  ...tools: readonly (readonly string[] | undefined)[]
) {
  const stack = new Stack(new App(), 'S');
  const handler = inlineFunction(stack);
  const server = new McpTaskServer(stack, 'Server', { auth, ...props });
  const tool = { handler, description: 'd', inputSchema: { type: 'object' } };
  server.addTool('plain', tool);
  for (const [index, scopes] of tools.entries())
    server.addTool(`scoped${index || ''}`, { ...tool, ...(scopes && { scopes }) });
  return stack;
}

const publicUrl = 'https://mcp.example.com';
const protectedBy = Auth.oauth({ issuer: 'https://login.example.com', audience: `${publicUrl}/mcp`, scopes: ['mcp'] });

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

const SIGNALS = '/signals/{place}/{name}/{mac}';

describe('oauth', () => {
  const template = Template.fromStack(makeStack(protectedBy, { publicUrl }, ['ops:deploy']));
  const WELL_KNOWN = '/.well-known/oauth-protected-resource';

  test('only preflights, the metadata, and signals, whose URL is the key, are open', () => {
    expect(methods(template)).toEqual(
      [
        [`GET ${WELL_KNOWN}`, 'NONE', 'MOCK'],
        [`GET ${WELL_KNOWN}/mcp`, 'NONE', 'MOCK'],
        [`OPTIONS ${WELL_KNOWN}`, 'NONE', 'MOCK'],
        [`OPTIONS ${WELL_KNOWN}/mcp`, 'NONE', 'MOCK'],
        ...['ANY', 'GET', 'HEAD', 'POST'].map((verb) => [`${verb} ${SIGNALS}`, 'NONE', 'AWS_PROXY']),
        ['OPTIONS /mcp', 'NONE', 'AWS_PROXY'],
        ...['DELETE', 'GET', 'PATCH', 'POST', 'PUT'].map((verb) => [`${verb} /mcp`, 'CUSTOM', 'AWS_PROXY']),
      ].sort(),
    );
  });

  /** How long answers of the authorizer are cached, in seconds, and the identity that they are cached for. */
  const kept = (of: Template) =>
    Object.values(of.findResources('AWS::ApiGateway::Authorizer')).map(({ Properties: p }) => [
      ...[p.Type, p.IdentitySource, p.AuthorizerResultTtlInSeconds],
    ]);

  test('the authorizer runs each time if a tool has scopes, else once in 60 s', () => {
    const source = 'method.request.header.Authorization';
    expect(kept(template)).toEqual([['REQUEST', source, 0]]);
    for (const none of [undefined, [], ['mcp']]) {
      const plain = Template.fromStack(makeStack(protectedBy, { publicUrl }, none));
      expect(kept(plain)).toEqual([['REQUEST', source, 60]]);
    }
  });

  test('no answer is a redirect, wants an API key or takes a header from the authorizer', () => {
    const all = (type: string) => Object.values(template.findResources(`AWS::ApiGateway::${type}`));
    const own = all('GatewayResponse').map(({ Properties }) => Properties);
    const integrated = all('Method').flatMap(({ Properties: { MethodResponses = [], Integration } }) => [
      ...MethodResponses,
      ...(Integration.IntegrationResponses ?? []),
    ]);
    const statuses = [...own, ...integrated].flatMap(({ StatusCode = [] }) => StatusCode);
    expect(statuses.length).toBeGreaterThan(8);
    expect(statuses.filter((status) => !/^[245]\d\d$/.test(status))).toEqual([]);
    for (const { ResponseParameters } of own) {
      const values = Object.values(ResponseParameters).map((value) => JSON.stringify(value));
      expect(values.filter((value) => !/^(\{"Fn::Join":\["",\[)?"'/.test(value))).toEqual([]);
    }
    expect(all('Method').filter(({ Properties }) => Properties.ApiKeyRequired)).toEqual([]);
    for (const type of ['ApiKey', 'UsagePlan']) template.resourceCountIs(`AWS::ApiGateway::${type}`, 0);
  });

  const metadata = `resource_metadata="${publicUrl}${WELL_KNOWN}/mcp"`;
  const answer = (type: string) =>
    Object.values(template.findResources('AWS::ApiGateway::GatewayResponse', { Properties: { ResponseType: type } }))[0]
      ?.Properties.ResponseParameters;
  const cors = {
    'gatewayresponse.header.Access-Control-Allow-Origin': `'*'`,
    'gatewayresponse.header.Access-Control-Expose-Headers': `'WWW-Authenticate, Retry-After'`,
    'gatewayresponse.header.X-Content-Type-Options': "'nosniff'",
  };

  test("API Gateway challenges with the server's texts, and lets browsers read them", () => {
    const name = 'gatewayresponse.header.WWW-Authenticate';
    expect(answer('UNAUTHORIZED')).toEqual({ ...cors, [name]: `'Bearer scope="mcp", ${metadata}'` });
    expect(answer('ACCESS_DENIED')).toEqual({
      ...cors,
      [name]: `'Bearer error="insufficient_scope", scope="mcp ops:deploy", ${metadata}'`,
    });
    expect(answer('DEFAULT_4XX')).toEqual(cors);
    expect(answer('DEFAULT_5XX')).toMatchObject(cors);
  });

  test.each([
    ['scope="mcp", ', ['mcp'], undefined],
    ['', [], undefined],
    ['scope="ops", ', [], ['ops']],
  ])('the 403 names all scopes that there are: %s', (scope, scopes, ofTool) => {
    const auth = { ...protectedBy, scopes };
    Template.fromStack(makeStack(auth, { publicUrl }, ofTool)).hasResourceProperties(
      'AWS::ApiGateway::GatewayResponse',
      {
        ...{ ResponseType: 'ACCESS_DENIED', StatusCode: '403' },
        ResponseParameters: Match.objectLike({
          'gatewayresponse.header.WWW-Authenticate': `'Bearer error="insufficient_scope", ${scope}${metadata}'`,
        }),
      },
    );
  });

  test('a tool that gets scopes makes a new API deployment, or the old answers would stay', () => {
    const deployment = (scopes?: string[]) =>
      Object.keys(
        Template.fromStack(makeStack(protectedBy, { publicUrl }, scopes)).findResources('AWS::ApiGateway::Deployment'),
      );
    const all = [undefined, ['ops'], ['ops:deploy']].flatMap(deployment);
    expect([all.length, new Set(all).size]).toEqual([3, 3]);
    expect(deployment(['ops'])).toEqual([all[1]]);
  });

  test('more scopes than fit in a header are refused at synth', () => {
    const many = Array.from({ length: 10 }, (_, n) => [`${'s'.repeat(400)}:${n}`]);
    expect(() => Template.fromStack(makeStack(protectedBy, { publicUrl }, ...many))).toThrow(
      /oauth: the scopes of the server and its tools take 4033 characters, 2048 at most/,
    );
  });

  test('a tool whose scopes would make its events large is refused by its name', () => {
    const scopesOf = (length: number) => ['s'.repeat(length - 'mcp '.length)];
    expect(() => makeStack(protectedBy, { publicUrl }, scopesOf(512))).not.toThrow();
    expect(() => makeStack(protectedBy, { publicUrl }, scopesOf(513))).toThrow(
      "Tool 'scoped': its scopes, with the scopes of every call, take 513 characters, 512 at most",
    );
  });

  test('without a publicUrl the metadata names the URL of the stage', () => {
    const { issuer } = protectedBy;
    const plain = Template.fromStack(makeStack(Auth.oauth({ issuer, audience: 'a' })));
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
    ['an issuer that is not a URL', () => Auth.oauth({ issuer: 'login', audience: 'a' })],
    ['an issuer without TLS', () => Auth.oauth({ issuer: 'http://login.example.com', audience: 'a' })],
    ['an issuer with a query', () => Auth.oauth({ issuer: 'https://login.example.com?a', audience: 'a' })],
    [
      'keys without TLS',
      () => Auth.oauth({ issuer: 'https://a.example', audience: 'a', jwksUri: 'http://a.example/keys' }),
    ],
    ['no audience', () => Auth.oauth({ issuer: 'https://a.example', audience: [] })],
    ['an empty audience', () => Auth.oauth({ issuer: 'https://a.example', audience: '' })],
    [
      'a scope that breaks the header',
      () => Auth.oauth({ issuer: 'https://a.example', audience: 'a', scopes: ['a"b'] }),
    ],
    [
      'offline_access (G-11)',
      () => Auth.oauth({ issuer: 'https://a.example', audience: 'a', scopes: ['offline_access'] }),
    ],
    ['a publicUrl that ends with a slash', () => makeStack(protectedBy, { publicUrl: 'https://a.example/' })],
    ['a publicUrl without TLS', () => makeStack(protectedBy, { publicUrl: 'http://a.example' })],
    ['scopes of a tool that are not valid', () => makeStack(protectedBy, {}, ['a b'])],
    ['scopes of a tool without tokens', () => makeStack(Auth.iam(), {}, ['a'])],
    [
      'a name of a claim that has a blank',
      () => Auth.oauth({ issuer: 'https://a.example', audience: 'a', callerClaims: ['a b'] }),
    ],
    [
      'eleven claims for tools',
      () => Auth.oauth({ issuer: 'https://a.example', audience: 'a', callerClaims: Array(11).fill('a') }),
    ],
    ['a scope of a tool that no caller can lack', () => makeStack(protectedBy, {}, ['ops', 'mcp:deploy'])],
  ])('%s is refused at synth', (_title, make) => {
    expect(make).toThrow(/^(Auth\.oauth|McpTaskServer: publicUrl|Tool 'scoped')/);
  });
});

test('a scope that Auth.oauth() is given twice takes nothing away from a tool (G-09)', () => {
  const twice = Auth.oauth({ issuer: 'https://a.example', audience: 'a', scopes: ['mcp', 'mcp'] });
  expect(twice.scopes).toEqual(['mcp']);
  expect(neededScopes('t', ['admin'], { ...twice, scopes: ['mcp', 'mcp'] })).toEqual(['mcp', 'admin']);
  expect(neededScopes('t', ['mcp'], twice)).toBeUndefined();
});

test('iam: all but the preflight and signals is signed, and there is nothing of OAuth', () => {
  const template = Template.fromStack(makeStack(Auth.iam()));
  expect(methods(template)).toEqual(
    [
      ...['ANY', 'GET', 'HEAD', 'POST'].map((verb) => [`${verb} ${SIGNALS}`, 'NONE', 'AWS_PROXY']),
      ['OPTIONS /mcp', 'NONE', 'AWS_PROXY'],
      ...['DELETE', 'GET', 'PATCH', 'POST', 'PUT'].map((v) => [`${v} /mcp`, 'AWS_IAM', 'AWS_PROXY']),
    ].sort(),
  );
  template.resourceCountIs('AWS::ApiGateway::Authorizer', 0);
  for (const ResponseType of ['UNAUTHORIZED', 'ACCESS_DENIED']) {
    template.resourcePropertiesCountIs('AWS::ApiGateway::GatewayResponse', { ResponseType }, 0);
  }
});

test('synth warns of anonymous, and of no other mode', () => {
  const warnings = (auth: Auth) => Annotations.fromStack(makeStack(auth)).findWarning('*', Match.anyValue());
  expect(warnings(Auth.anonymous()).map(({ entry }) => entry.data)).toEqual([
    expect.stringMatching(
      /anonymous\(\): every client that reaches the endpoint may call every tool.*mcp-task-server:anonymous/,
    ),
  ]);
  for (const auth of [protectedBy, Auth.iam()]) expect(warnings(auth)).toEqual([]);
});
