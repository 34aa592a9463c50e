import { App, Duration, Stack } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { DefinitionBody, Pass, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { expect, test } from 'vitest';
import { Auth, McpTaskServer, type McpTaskServerProps } from '../../lib/index.ts';
import { inlineFunction } from '../support/inline-function.ts';

interface Document {
  readonly Statement: readonly object[];
}
interface Resource {
  readonly Type: string;
  readonly Properties?: {
    readonly PolicyDocument?: Document;
    readonly ResourcePolicy?: Document;
    readonly AssumeRolePolicyDocument?: Document;
    readonly Policies?: readonly { readonly PolicyName: string; readonly PolicyDocument: Document }[];
    readonly ManagedPolicyArns?: unknown;
  };
}

/** By resource: its documents and statements, each member of a statement in one line. */
type Policies = ReadonlyMap<string, readonly string[]>;

/** All that a server with every kind of tool may do, and who may use its roles and functions. */
function policies(more: Partial<McpTaskServerProps> = {}): Policies {
  const stack = new Stack(new App(), 'S');
  const handler = inlineFunction(stack);
  const stateMachine = new StateMachine(stack, 'M', {
    definitionBody: DefinitionBody.fromChainable(Pass.jsonata(stack, 'P')),
  });
  const auth = Auth.oauth({ issuer: 'https://login.example.com', audience: ['https://mcp.example.com/mcp'] });
  const server = new McpTaskServer(stack, 'Server', { auth, publicUrl: 'https://mcp.example.com', ...more });
  const tool = { description: 'd', inputSchema: { type: 'object' }, timeout: Duration.seconds(30) };
  server.addTool('direct', { ...tool, handler });
  server.addTool('task', { ...tool, handler, taskSupport: 'required', files: true });
  server.addTool('machine', { ...tool, stateMachine, taskSupport: 'required' });
  const resources = Object.entries(Template.fromStack(stack).toJSON().Resources as Record<string, Resource>);
  const found = resources.flatMap(([name, { Type, Properties = {} }]) => {
    const { PolicyDocument, ResourcePolicy, AssumeRolePolicyDocument, Policies = [], ManagedPolicyArns } = Properties;
    const documents = Object.entries({ PolicyDocument, ResourcePolicy, AssumeRolePolicyDocument });
    const said = [
      ...documents.flatMap(([kind, document]) => (document === undefined ? [] : statements(kind, document))),
      ...Policies.flatMap((policy) => statements(policy.PolicyName, policy.PolicyDocument)),
      ...(Type === 'AWS::Lambda::Permission' ? [statement(Properties)] : []),
      ...(ManagedPolicyArns === undefined ? [] : [`  ManagedPolicyArns: ${text(ManagedPolicyArns)}`]),
    ];
    return said.length > 0 && name.startsWith('Server') ? [[`${Type} ${name}`, said] as const] : [];
  });
  return new Map(found);
}

const linesOf = (all: Policies): string[] => [...all].flatMap(([name, said]) => [name, ...said]);

/** What `all` has and `known` has not. */
function beyond(all: Policies, known: Policies): Policies {
  const added = [...all].map(([name, said]) => [name, said.filter((one) => !known.get(name)?.includes(one))] as const);
  return new Map(added.filter(([, said]) => said.length > 0));
}

const statements = (kind: string, { Statement, ...rest }: Document): string[] => [
  `  ${kind} ${text(rest)}`,
  ...Statement.map(statement),
];

const statement = (members: object): string =>
  Object.entries(members)
    .map(([name, value], i) => `    ${i === 0 ? '-' : ' '} ${name}: ${text(value)}`)
    .join('\n');

const text = (value: unknown): string => JSON.stringify(substituted(value));

/** References to other resources as `Fn::Sub` writes them. */
function substituted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(substituted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, substituted(member)] as const);
  const [[name, member] = []] = members;
  if (name === 'Ref') return `\${${member}}`;
  if (name === 'Fn::GetAtt') return `\${${(member as string[]).join('.')}}`;
  const [between, parts] = name === 'Fn::Join' ? (member as [string, unknown[]]) : ['', [undefined]];
  return parts.every((part) => typeof part === 'string') ? parts.join(between) : Object.fromEntries(members);
}

/**
 * The file is the list of what the server may do: read its diff as a reviewer. A change that is meant is written to it by
 * `npm test -- test/stack/policies.test.ts --update`.
 */
test('no policy is wider, and no condition looser, than policies.snap says (G-16)', async () => {
  const [plain, withEvents] = [policies(), policies({ events: true })];
  const lines = [...linesOf(plain), '', '# With MCP Events, besides', ...linesOf(beyond(withEvents, plain))];
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('policies.snap');
});

/** What is allowed on the key of the stack: by resource, `<service by way of which>: <actions>`. */
function keyUses(stack: Stack): Record<string, string[]> {
  const resources = Object.entries(Template.fromStack(stack).toJSON().Resources as Record<string, Resource>);
  const uses = resources.flatMap(([name, { Type, Properties }]) => {
    const { PolicyDocument, Policies = [] } = Properties ?? {};
    const documents = [PolicyDocument, ...Policies.map((one) => one.PolicyDocument)] as (
      | { Statement?: object[] }
      | undefined
    )[];
    const said = documents.flatMap((document) => document?.Statement ?? []).map((one) => JSON.stringify(one));
    const onKey = said.filter((text) => text.includes('"kms:') && text.includes('"kms:ViaService"'));
    const texts = onKey.map((text) => {
      const [, service] = /"kms:ViaService":\{"Fn::Join":\["",\["(\w+)\.us-east-1\."/.exec(text) ?? [];
      expect(text).toContain('"Resource":{"Fn::GetAtt":["K');
      return `${service}: ${[...text.matchAll(/"kms:(\w+)"(?!:)/g)].map(([, action]) => action).join(' ')}`;
    });
    return texts.length > 0 && Type.startsWith('AWS::IAM::')
      ? [[name.replace(/(RoleDefaultPolicy|Role)?[0-9A-F]{8}$/, ''), texts] as const]
      : [];
  });
  return Object.fromEntries(uses);
}

test('a key of the customer is used by way of the services that use it, and by no other action', () => {
  const usesOf = (events: boolean) => {
    const stack = new Stack(new App(), 'S', { env: { region: 'us-east-1' } });
    const auth = Auth.oauth({ issuer: 'https://login.example.com', audience: ['https://mcp.example.com/mcp'] });
    const server = new McpTaskServer(stack, 'Server', { auth, encryptionKey: new Key(stack, 'K'), events });
    const handler = inlineFunction(stack);
    server.addTool('work', { handler, description: 'd', inputSchema: { type: 'object' }, taskSupport: 'required' });
    return keyUses(stack);
  };
  const table =
    'dynamodb: Decrypt DescribeKey Encrypt ReEncryptFrom ReEncryptTo GenerateDataKey GenerateDataKeyWithoutPlaintext';
  const [read, write] = ['s3: Decrypt', 's3: GenerateDataKey'];
  const [letters, runs] = ['sqs: Decrypt GenerateDataKey', 'states: Decrypt'];
  const plain = {
    ServerEndpoint: [table, read, write, 'secretsmanager: Decrypt', runs],
    ServerSignals: [table, read, write],
    ServerSigningKey: ['secretsmanager: Decrypt GenerateDataKey'],
    ServerTaskEvents: [table, read, write, letters],
    ServerReconciler: [table, read, write, runs, letters],
    ServerProgress: [table, read, write],
    ServerStandard: [table],
    ServerExpress: [table],
    ServerMachine: [table],
    ServerOperatorRead: [table],
    ServerOperatorAct: [table, runs],
    ServerOperatorPayload: [table, read, write, runs],
  };
  expect(usesOf(false)).toEqual(plain);
  const endpoint = [letters, ...plain.ServerEndpoint];
  expect(usesOf(true)).toEqual({ ...plain, ServerEndpoint: endpoint, ServerEvents: [table, letters] });
});

test('services that use the key by themselves are in its policy, for this account only', () => {
  const stack = new Stack(new App(), 'S', { env: { region: 'us-east-1', account: '111111111111' } });
  const auth = Auth.oauth({ issuer: 'https://login.example.com', audience: ['https://mcp.example.com/mcp'] });
  new McpTaskServer(stack, 'Server', { auth, encryptionKey: new Key(stack, 'K') });
  const [key] = Object.values(Template.fromStack(stack).findResources('AWS::KMS::Key'));
  const statements: { Principal: { Service?: unknown }; Action: unknown; Condition?: unknown }[] =
    key?.Properties.KeyPolicy.Statement ?? [];
  const of = (Service: unknown) =>
    statements.filter(({ Principal }) => JSON.stringify(Principal) === JSON.stringify({ Service }));
  expect(of('events.amazonaws.com')).toEqual([
    {
      ...{ Effect: 'Allow', Principal: { Service: 'events.amazonaws.com' }, Resource: '*' },
      Action: ['kms:Decrypt', 'kms:GenerateDataKey'],
      Condition: { StringEquals: { 'aws:SourceAccount': '111111111111' } },
    },
  ]);
  const [logs] = of({ 'Fn::Join': ['', ['logs.us-east-1.', { Ref: 'AWS::URLSuffix' }]] });
  expect(logs).toMatchObject({
    Action: ['kms:Encrypt', 'kms:Decrypt', 'kms:ReEncrypt*', 'kms:GenerateDataKey*', 'kms:Describe*'],
    Resource: '*',
  });
  const condition = JSON.stringify(logs?.Condition);
  expect(condition).toContain('kms:EncryptionContext:aws:logs:arn');
  expect(condition).toContain(':logs:us-east-1:111111111111:log-group:*');
});

test('a tool whose role is not known gets no policy, and synth says what to allow', () => {
  const stack = new Stack(new App(), 'S');
  const auth = Auth.oauth({ issuer: 'https://login.example.com', audience: ['https://mcp.example.com/mcp'] });
  const server = new McpTaskServer(stack, 'Server', { auth });
  const handler = LambdaFunction.fromFunctionArn(stack, 'F', 'arn:aws:lambda:us-east-1:111111111111:function:f');
  server.addTool('work', { handler, description: 'd', inputSchema: { type: 'object' }, taskSupport: 'required' });
  const policies = Object.keys(Template.fromStack(stack).findResources('AWS::IAM::Policy'));
  expect(policies.filter((name) => name.includes('Progress'))).toEqual([]);
  Annotations.fromStack(stack).hasWarning(
    '/S/Server',
    Match.stringLikeRegexp(
      'S/F has no known role: let it dynamodb:GetItem and dynamodb:UpdateItem .*, dynamodb:Query it if it works in steps',
    ),
  );
});

test('only the role of a tool with files may store them', () => {
  const stack = new Stack(new App(), 'S');
  const auth = Auth.oauth({ issuer: 'https://login.example.com', audience: ['https://mcp.example.com/mcp'] });
  const server = new McpTaskServer(stack, 'Server', { auth });
  const tool = { description: 'd', inputSchema: { type: 'object' }, taskSupport: 'required' } as const;
  server.addTool('plain', { ...tool, handler: inlineFunction(stack, 'Plain') });
  server.addTool('files', { ...tool, handler: inlineFunction(stack, 'Files'), files: true });
  const found = Template.fromStack(stack).findResources('AWS::IAM::Policy');
  const rolesOf = (name: string) =>
    Object.entries(found).flatMap(([id, { Properties }]) => (id.startsWith(`Server${name}`) ? Properties.Roles : []));
  const role = (id: string) => ({ Ref: expect.stringMatching(`^${id}ServiceRole`) });
  expect(rolesOf('Files')).toEqual([role('Files')]);
  expect(rolesOf('Progress')).toEqual([role('Plain'), role('Files')]);
});
