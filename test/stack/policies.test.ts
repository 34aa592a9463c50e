import { App, Duration, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { DefinitionBody, Pass, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { expect, test } from 'vitest';
import { McpTaskServer, oauth } from '../../lib/index.ts';
import { inlineFunction } from '../support/inline-function.ts';

interface Resource {
  readonly Type: string;
  readonly Properties: {
    readonly PolicyDocument?: object;
    readonly ResourcePolicy?: object;
    readonly AssumeRolePolicyDocument?: object;
    readonly Policies?: readonly { readonly PolicyName: string; readonly PolicyDocument: object }[];
    readonly ManagedPolicyArns?: unknown;
  };
}

/** All that a server with every kind of tool may do, and who may use its roles: one text for each resource. */
function policies(): Record<string, unknown> {
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
  return Object.fromEntries(
    resources.flatMap(([name, { Type, Properties }]) => {
      const { PolicyDocument, ResourcePolicy, AssumeRolePolicyDocument, Policies, ManagedPolicyArns } =
        Properties ?? {};
      const said = { PolicyDocument, ResourcePolicy, AssumeRolePolicyDocument, Policies, ManagedPolicyArns };
      const any = Object.values(said).some((value) => value !== undefined);
      return any && name.startsWith('Server') ? [[`${Type} ${name}`, JSON.parse(JSON.stringify(said))]] : [];
    }),
  );
}

/**
 * The file is the list of what the server may do: read its diff as a reviewer. A change that is meant is written to it by
 * `npm test -- test/stack/policies.test.ts --update`.
 */
test('no policy is wider, and no condition looser, than policies.snap says (G-16)', async () => {
  await expect(`${JSON.stringify(policies(), undefined, 2)}\n`).toMatchFileSnapshot('policies.snap');
});
