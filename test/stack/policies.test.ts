import { App, Duration, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { DefinitionBody, Pass, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { expect, test } from 'vitest';
import { McpTaskServer, oauth } from '../../lib/index.ts';
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

/** All that a server with every kind of tool may do, and who may use its roles: each member of a statement in one line. */
function policies(): string[] {
  const stack = new Stack(new App(), 'S');
  const handler = inlineFunction(stack);
  const stateMachine = new StateMachine(stack, 'M', {
    definitionBody: DefinitionBody.fromChainable(Pass.jsonata(stack, 'P')),
  });
  const auth = oauth({ issuer: 'https://login.example.com', audience: ['https://mcp.example.com/mcp'] });
  const server = new McpTaskServer(stack, 'Server', { auth, publicUrl: 'https://mcp.example.com' });
  const tool = { description: 'd', inputSchema: { type: 'object' }, timeout: Duration.seconds(30) };
  server.addTool('direct', { ...tool, handler });
  server.addTool('task', { ...tool, handler, taskSupport: 'required' });
  server.addTool('machine', { ...tool, stateMachine, taskSupport: 'required' });
  const resources = Object.entries(Template.fromStack(stack).toJSON().Resources as Record<string, Resource>);
  return resources.flatMap(([name, { Type, Properties = {} }]) => {
    const { PolicyDocument, ResourcePolicy, AssumeRolePolicyDocument, Policies = [], ManagedPolicyArns } = Properties;
    const documents = Object.entries({ PolicyDocument, ResourcePolicy, AssumeRolePolicyDocument });
    const said = [
      ...documents.flatMap(([kind, document]) => (document === undefined ? [] : statements(kind, document))),
      ...Policies.flatMap((policy) => statements(policy.PolicyName, policy.PolicyDocument)),
      ...(ManagedPolicyArns === undefined ? [] : [`  ManagedPolicyArns: ${text(ManagedPolicyArns)}`]),
    ];
    return said.length > 0 && name.startsWith('Server') ? [`${Type} ${name}`, ...said] : [];
  });
}

const statements = (kind: string, { Statement, ...rest }: Document): string[] => [
  `  ${kind} ${text(rest)}`,
  ...Statement.flatMap((statement) =>
    Object.entries(statement).map(([name, value], i) => `    ${i === 0 ? '-' : ' '} ${name}: ${text(value)}`),
  ),
];

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
  await expect(`${policies().join('\n')}\n`).toMatchFileSnapshot('policies.snap');
});
