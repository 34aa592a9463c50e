import { App, Duration, Stack } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { DefinitionBody, Pass, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { describe, expect, test } from 'vitest';
import { ENGINE_NAMES } from '../../functions/tasks/engines.ts';
import { elicitForm } from '../../functions/tool/index.ts';
import { Auth, type FunctionToolProps, McpTaskServer } from '../../lib/index.ts';
import { definition } from '../../lib/workflow/definition.ts';
import { inlineFunction } from '../support/inline-function.ts';

const schema = { type: 'object' };

function makeStack(add: (server: McpTaskServer, handler: LambdaFunction) => void) {
  const stack = new Stack(new App(), 'S');
  const handler = inlineFunction(stack);
  add(new McpTaskServer(stack, 'Server', { auth: Auth.anonymous() }), handler);
  return Template.fromStack(stack);
}

const template = makeStack((server, handler) => {
  const tool = { handler, description: 'd', inputSchema: schema };
  server.addTool('plain', tool);
  server.addTool('maybe', { ...tool, taskSupport: 'optional', timeout: Duration.seconds(7) });
  server.addTool('always', { ...tool, taskSupport: 'required', annotations: { idempotentHint: true } });
});

test('a tool may have a name that every object of JavaScript has (A-18)', () => {
  const names = ['constructor', 'toString', 'hasOwnProperty', '__defineGetter__', '.'];
  const named = makeStack((server, handler) => {
    for (const name of names) {
      server.addTool(name, { handler, description: 'd', inputSchema: schema, taskSupport: 'required' });
    }
  });
  const handler = { 'Fn::GetAtt': [Match.stringLikeRegexp('^F'), 'Arn'] };
  const listed = names.flatMap((name, i) => [`${i === 0 ? '{' : "', "}'${name}': '`, handler]);
  named.hasResourceProperties('AWS::StepFunctions::StateMachine', {
    DefinitionSubstitutions: { Functions: { 'Fn::Join': ['', [...listed, "'}"]] } },
  });
});

describe('the template', () => {
  test('has one workflow for each engine, which knows its tools and those that may be repeated', () => {
    const machines = Object.values(template.findResources('AWS::StepFunctions::StateMachine'));
    const handler = { 'Fn::GetAtt': [Match.stringLikeRegexp('^F'), 'Arn'] };
    const known = ["{'maybe': '", handler, "', 'always': '", handler, "'}"];
    expect(machines.map(({ Properties }) => Properties.StateMachineType)).toEqual(['STANDARD', 'EXPRESS', 'STANDARD']);
    for (const DefinitionSubstitutions of [
      { Functions: { 'Fn::Join': ['', known] }, RepeatableTools: "['always']" },
      { Functions: { 'Fn::Join': ['', ["{'always': '", handler, "'}"]] } },
      { StateMachines: '{}' },
    ]) {
      template.hasResourceProperties('AWS::StepFunctions::StateMachine', { DefinitionSubstitutions });
    }
  });

  test('functions and machines depend on the policies of a role of ours or CDK, and refer to it', () => {
    const stack = new Stack(new App(), 'S');
    const server = new McpTaskServer(stack, 'Server', { auth: Auth.anonymous() });
    const role = new Role(stack, 'AuthorsRole', { assumedBy: new ServicePrincipal('states.amazonaws.com') });
    const tool = { description: 'd', inputSchema: schema, taskSupport: 'required' } as const;
    server.addTool('function', { ...tool, handler: inlineFunction(stack) });
    for (const [id, props] of Object.entries({ Cdk: {}, Own: { role } })) {
      const definitionBody = DefinitionBody.fromString('{}');
      const stateMachine = new StateMachine(stack, id, { definitionBody, tracingEnabled: true, ...props });
      server.addTool(id, { ...tool, stateMachine });
    }
    const all = Object.values(
      Template.fromStack(stack).toJSON().Resources as Record<string, { DependsOn?: string[]; Properties?: object }>,
    );
    const withRole = all.filter(({ Properties = {} }) => JSON.stringify(Properties).includes('"Role'));
    const depends = withRole.flatMap(({ DependsOn }) => DependsOn ?? []).map((id) => id.replace(/[0-9A-F]{8}$/, ''));
    expect(depends.filter((id) => id.endsWith('RoleDefaultPolicy')).length).toBeGreaterThan(8);
    expect(depends).toContain('CdkRoleDefaultPolicy');
    expect(depends.filter((id) => id.endsWith('Role'))).toEqual(['AuthorsRole']);
  });

  test('no state calls Lambda by an SDK integration, which ends after about 60 s', () => {
    const used = ENGINE_NAMES.flatMap((engine) =>
      Object.values<{ Resource?: string }>(JSON.parse(definition(engine)).States).map(({ Resource }) => Resource),
    );
    expect(used).toContain('arn:aws:states:::lambda:invoke');
    expect(used.filter((resource) => /aws-sdk:lambda/.test(resource ?? ''))).toEqual([]);
  });

  test('the API is regional, and every method of the endpoint streams', () => {
    template.hasResourceProperties('AWS::ApiGateway::RestApi', { EndpointConfiguration: { Types: ['REGIONAL'] } });
    const all = Object.values(template.findResources('AWS::ApiGateway::Method')).map((m) => m.Properties);
    const methods = all.filter(({ Integration }) => Integration.ResponseTransferMode === 'STREAM');
    // Of signals.
    expect(all.length - methods.length).toBe(4);
    expect(methods.map((m) => m.HttpMethod).sort()).toEqual(['DELETE', 'GET', 'OPTIONS', 'PATCH', 'POST', 'PUT']);
    for (const method of methods) {
      expect(method.Integration.ResponseTransferMode).toBe('STREAM');
      expect(JSON.stringify(method.Integration.Uri)).toContain('response-streaming-invocations');
    }
  });

  test('the signing key rotates every 90 days', () => {
    template.hasResourceProperties('AWS::SecretsManager::RotationSchedule', {
      RotationRules: { ScheduleExpression: 'rate(90 days)' },
      RotateImmediatelyOnUpdate: false,
    });
  });

  test('the table: on demand, TTL, point-in-time recovery, sparse index, kept by default', () => {
    template.hasResource('AWS::DynamoDB::GlobalTable', {
      DeletionPolicy: 'Retain',
      Properties: Match.objectLike({
        BillingMode: 'PAY_PER_REQUEST',
        TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
        GlobalSecondaryIndexes: [
          Match.objectLike({ IndexName: 'due', Projection: { ProjectionType: 'KEYS_ONLY' } }),
          Match.objectLike({ IndexName: 'status', Projection: Match.objectLike({ ProjectionType: 'INCLUDE' }) }),
        ],
        Replicas: [Match.objectLike({ PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } })],
      }),
    });
  });

  test('the endpoint: Node 24 on arm64, and knows its functions', () => {
    template.hasResourceProperties('AWS::Lambda::Function', {
      Description: Match.stringLikeRegexp('MCP endpoint'),
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Environment: { Variables: Match.objectLike({ TOOL_FUNCTIONS: { Ref: Match.stringLikeRegexp('^F') } }) },
    });
  });
});

test.each([
  ['no longer than a session lives', Duration.hours(24)],
  ['longer than a year', Duration.days(366)],
  ['of minutes, which Secrets Manager does not know', Duration.minutes(5_001)],
])('a key that is replaced after a time %s is refused at synth', (_title, rotation) => {
  const props = { auth: Auth.anonymous(), keyRotation: rotation };
  expect(() => new McpTaskServer(new Stack(new App(), 'S'), 'Server', props)).toThrow(/keyRotation lies between 2/);
});

describe('a wrong registration fails at synth, with the name of the tool', () => {
  const wrong: [string, string, Partial<FunctionToolProps>, RegExp][] = [
    ['a name clients refuse', 'no spaces', {}, /'no spaces': a name is/],
    ['no description', 'x', { description: ' ' }, /'x': give it a description/],
    ['not an object', 'x', { inputSchema: { type: 'string' } }, /'x': inputSchema.type/],
    [
      'a broken schema',
      'x',
      { inputSchema: { type: 'object', properties: { a: { type: 'nonsense' } } } },
      /'x': inputSchema:/,
    ],
    [
      'a keyword that would be misjudged',
      'x',
      { inputSchema: { type: 'object', $dynamicRef: '#a' } },
      /'x': .*\$dynamicRef/,
    ],
    [
      'an unknown dialect',
      'x',
      { inputSchema: { type: 'object', $schema: 'http://example.com/s' } },
      /'x': .*example\.com/,
    ],
    [
      'a remote reference',
      'x',
      { inputSchema: { type: 'object', properties: { a: { $ref: 'https://example.com/s' } } } },
      /'x': inputSchema:/,
    ],
    [
      'a timeout longer than its task can be read',
      'x',
      { timeout: Duration.hours(25), taskSupport: 'optional' },
      /'x': a timeout is at most the maxTtl/,
    ],
    [
      'a question that no client could show',
      'x',
      {
        taskSupport: 'optional',
        askFirst: { who: { method: 'elicitation/create', params: { message: 'Who?', schema: { type: 'string' } } } },
      },
      /'x': askFirst: 'who' is not a question/,
    ],
    [
      'a name of a question that no task can keep',
      'x',
      { taskSupport: 'optional', askFirst: { ['é'.repeat(65)]: elicitForm('Who?', {}) } },
      /'x': askFirst: 'é{65}' is not a question.*, by a name of at most 128 bytes/,
    ],
    [
      'a tool where its function belongs',
      'x',
      { handler: (() => undefined) as never },
      /'x': its handler is not a Lambda function/,
    ],
    ['nothing to expect', 'x', { expectedDuration: Duration.seconds(0) }, /'x': an expectedDuration is above 0/],
    [
      'a header mark on an object',
      'x',
      { inputSchema: { type: 'object', properties: { a: { type: 'object', 'x-mcp-header': 'A' } } } },
      /'x': x-mcp-header of 'a' needs type/,
    ],
    [
      'a header mark out of reach',
      'x',
      { inputSchema: { type: 'object', anyOf: [{ properties: { a: { 'x-mcp-header': 'A' } } }] } },
      /'x': x-mcp-header belongs on a property/,
    ],
  ];
  test.each(wrong)('%s (A-16, A-18, D-08)', (_title, name, props, message) => {
    const make = () =>
      makeStack((server, handler) =>
        server.addTool(name, { handler, description: 'd', inputSchema: schema, ...props }),
      );
    expect(make).toThrow(message);
  });

  test('a name twice (A-18)', () => {
    const make = () =>
      makeStack((server, handler) => {
        server.addTool('x', { handler, description: 'd', inputSchema: schema });
        server.addTool('x', { handler, description: 'd', inputSchema: schema });
      });
    expect(make).toThrow(/'x': registered twice/);
  });
});

test('synth warns of schemas that some arguments make slow, by tool and path (A-16)', () => {
  const stack = new Stack(new App(), 'S');
  const handler = inlineFunction(stack);
  const server = new McpTaskServer(stack, 'Server', { auth: Auth.anonymous() });
  const slug = { type: 'string', pattern: '^([a-z0-9]+-?)+$' };
  server.addTool('rename', {
    ...{ handler, description: 'd', inputSchema: { type: 'object', properties: { slug } } },
    outputSchema: { type: 'object', properties: { rows: { type: 'array', uniqueItems: true } } },
  });
  const warnings = Annotations.fromStack(stack).findWarning('*', Match.stringLikeRegexp('slow-schema'));
  expect(warnings.map(({ entry }) => entry.data)).toEqual([
    expect.stringContaining("Tool 'rename': inputSchema.properties.slug.pattern has nested quantifiers"),
    expect.stringContaining("Tool 'rename': outputSchema.properties.rows.uniqueItems compares all pairs of items"),
  ]);
});

test('no workflow logs what its states carry: arguments, answers and results (A-15)', () => {
  const stack = new Stack(new App(), 'S');
  const server = new McpTaskServer(stack, 'Server', { auth: Auth.anonymous() });
  const handler = inlineFunction(stack);
  const stateMachine = new StateMachine(stack, 'M', {
    definitionBody: DefinitionBody.fromChainable(Pass.jsonata(stack, 'P')),
  });
  const tool = { description: 'd', inputSchema: schema, taskSupport: 'required' } as const;
  server.addTool('a', { ...tool, handler });
  server.addTool('b', { ...tool, stateMachine });
  const machines = Object.values(Template.fromStack(stack).findResources('AWS::StepFunctions::StateMachine'));
  const logged = machines.map(({ Properties }) => Properties.LoggingConfiguration?.IncludeExecutionData);
  expect(logged.filter((value) => value !== undefined)).toEqual([false, false, false]);
});

test.each([
  [60, 0],
  [61, 1],
])('a holdCap of %i s: synth gives %i warnings of what a stream costs that its client leaves', (seconds, warnings) => {
  const stack = new Stack(new App(), 'S');
  new McpTaskServer(stack, 'Server', { auth: Auth.anonymous(), holdCap: Duration.seconds(seconds) });
  expect(Annotations.fromStack(stack).findWarning('*', Match.stringLikeRegexp('holdCap'))).toHaveLength(warnings);
});

test.each([
  [{}],
  [{ inlineWindow: Duration.seconds(1), holdCap: Duration.seconds(1) }],
  [{ inlineWindow: Duration.seconds(25), holdCap: Duration.seconds(200) }],
])('API Gateway waits longer than a function may run, which says more than a 504: %j', (windows) => {
  const stack = new Stack(new App(), 'S');
  new McpTaskServer(stack, 'Server', { auth: Auth.anonymous(), ...windows });
  const { Resources } = Template.fromStack(stack).toJSON();
  const all = Object.values(Resources as Record<string, { Properties: Record<string, never> }>);
  const timeoutOf = (description: string) =>
    all.flatMap(({ Properties }) => {
      const { Description, Timeout } = (Properties ?? {}) as { Description?: string; Timeout?: number };
      return Description?.startsWith(description) ? [Number(Timeout) * 1_000] : [];
    })[0] ?? Number.NaN;
  const timeouts = all.flatMap(({ Properties }) => {
    type Integration = { Type: string; TimeoutInMillis?: number; ResponseTransferMode?: string };
    const { Integration } = (Properties ?? {}) as { Integration?: Integration };
    if (Integration?.Type !== 'AWS_PROXY') return [];
    const streams = Integration.ResponseTransferMode === 'STREAM';
    return [[streams ? 'MCP endpoint' : 'Takes signals', Integration.TimeoutInMillis ?? 29_000] as const];
  });
  expect(timeouts.length).toBeGreaterThan(1);
  for (const [of, timeout] of timeouts) expect(timeout, of).toBeGreaterThan(timeoutOf(of));
});
