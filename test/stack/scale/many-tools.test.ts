import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { expect, test } from 'vitest';
import { Auth, McpTaskServer } from '../../../lib/index.ts';
import { startCloud } from '../../../local/cloud.ts';
import { runTask } from '../../support/clients.ts';
import { useAssembly } from '../../support/cloud.ts';
import { inlineFunction } from '../../support/inline-function.ts';

const assembly = useAssembly('test/stack/scale/app.ts');

interface Resource {
  readonly Type: string;
  readonly Properties: { readonly Roles?: readonly object[]; readonly PolicyDocument?: object };
}

function template() {
  const text = readFileSync(join(assembly, 'Many.template.json'), 'utf8');
  const { Resources } = JSON.parse(text) as { Resources: Readonly<Record<string, Resource>> };
  return { text, resources: Object.values(Resources) };
}

/** The characters of a policy with the longest ARNs of functions, which `Fn::GetAtt` names. */
const charactersOf = ({ Properties }: Resource): number =>
  JSON.stringify(Properties.PolicyDocument).replace(/\{"Fn::GetAtt":\[[^\]]*\]\}/g, `"${'x'.repeat(140)}"`).length;

test('100 tools, each a function of its own, fit into one stack of CloudFormation', () => {
  const { text, resources } = template();
  const bytes = Buffer.byteLength(text);
  console.log(`100 tools: ${bytes} bytes of template, ${resources.length} resources`);
  expect(bytes).toBeLessThanOrEqual(900_000);
  expect(resources.length).toBeLessThanOrEqual(500);
  expect(resources.filter(({ Type }) => Type === 'AWS::StepFunctions::StateMachine')).toHaveLength(3);
  expect(resources.filter(({ Type }) => Type === 'AWS::Lambda::Function').length).toBeGreaterThan(100);
});

test('with 100 tools the policies of each workflow fit into what IAM allows of a role', () => {
  const { resources } = template();
  for (const workflow of ['ServerStandardRole', 'ServerExpressRole']) {
    const own = resources.filter(({ Properties }) => JSON.stringify(Properties.Roles)?.includes(workflow));
    const [inline, managed] = ['AWS::IAM::Policy', 'AWS::IAM::ManagedPolicy'].map((type) =>
      own.filter(({ Type }) => Type === type).map(charactersOf),
    );
    // "IAM and AWS STS quotas": 10,240 characters of inline policies, 6,144 of a managed one, 10 of these for a role.
    expect(inline?.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(10_240);
    expect(Math.max(...(managed ?? []))).toBeLessThanOrEqual(6_144);
    expect(managed?.length).toBeLessThanOrEqual(10);
  }
});

test('of 100 tools the first, the 50th and the last complete their tasks', async () => {
  const cloud = await startCloud({ assembly, onLog: () => {} });
  try {
    for (const i of [1, 50, 100]) {
      const name = `inspect_regions_${i}`;
      expect(await runTask(`${cloud.url}/mcp`, name, { regions: ['eu-west-1'] })).toMatchObject({
        status: 'completed',
        result: { structuredContent: { best: name } },
      });
    }
  } finally {
    await cloud.stop();
  }
});

test('the 101st tool is refused by its name, with the number', () => {
  const stack = new Stack(new App(), 'S');
  const server = new McpTaskServer(stack, 'Server', { auth: Auth.anonymous() });
  const handler = inlineFunction(stack);
  const add = (i: number) =>
    server.addTool(`tool_${i}`, {
      handler,
      description: 'd',
      inputSchema: { type: 'object' },
      taskSupport: 'optional',
    });
  for (let i = 1; i <= 100; i++) add(i);
  expect(() => add(101)).toThrow("Tool 'tool_101': a server has at most 100 tools, and this is one more");
});
