import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import {
  Alias,
  Code,
  type IFunction,
  type IVersion,
  Function as LambdaFunction,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { DefinitionBody, Pass, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { expect, test } from 'vitest';
import { invocable } from '../../lib/endpoint-environment.ts';
import { Auth, McpTaskServer } from '../../lib/index.ts';
import { inlineFunction } from '../support/inline-function.ts';

const described = { description: 'd', inputSchema: { type: 'object' } };
const env = { account: '123456789012', region: 'ap-southeast-1' };
const arnOf = (name: string) => `arn:aws:lambda:ap-southeast-1:123456789012:function:${name}`;

function makeServer(props: { env?: typeof env } = {}) {
  const stack = new Stack(new App(), 'ServerOfTheDepartmentOfLongNames', props);
  const server = new McpTaskServer(stack, 'Server', { auth: Auth.anonymous() });
  const machines = (count: number) => {
    for (let i = 0; i < count; i++) {
      const definitionBody = DefinitionBody.fromChainable(new Pass(stack, `P${i}`));
      server.addTool(`m${i}`, { ...described, stateMachine: new StateMachine(stack, `M${i}`, { definitionBody }) });
    }
  };
  return { stack, server, machines };
}

/** The variables of the endpoint as deployed, where CloudFormation makes every name as long as it may be. */
function longest(stack: Stack): string {
  const template = Template.fromStack(stack).toJSON();
  const resources: Record<string, { Type: string; Properties: Record<string, never> }> = template.Resources;
  const lengths: Record<string, number> = {
    ...{ 'AWS::Lambda::Function': 64, 'AWS::StepFunctions::StateMachine': 80, 'AWS::S3::Bucket': 63 },
    ...{ 'AWS::SecretsManager::Secret': 160, 'AWS::DynamoDB::GlobalTable': 110 },
  };
  const value = (node: unknown): string => {
    if (typeof node === 'string') return node;
    const { Ref, 'Fn::Join': join, 'Fn::Select': select } = node as Record<string, never>;
    if (join !== undefined) return (join[1] as unknown[]).map(value).join(join[0]);
    // The name at the end of an ARN.
    if (select !== undefined) return 'x'.repeat(lengths['AWS::StepFunctions::StateMachine'] ?? 0);
    if (String(Ref).startsWith('AWS::')) return 'x'.repeat(14);
    return 'x'.repeat(lengths[resources[Ref ?? '']?.Type ?? ''] ?? Number.NaN);
  };
  const [endpoint] = Object.values(resources).filter(({ Properties }) =>
    String(Properties.Description).startsWith('MCP endpoint'),
  );
  const { Variables = {} } = (endpoint?.Properties.Environment ?? {}) as { Variables?: Record<string, unknown> };
  return JSON.stringify(Object.fromEntries(Object.entries(Variables).map(([name, node]) => [name, value(node)])));
}

test('25 functions and 20 state machines with any names fit the 4 KB of the endpoint', () => {
  const { stack, server, machines } = makeServer();
  for (let i = 0; i < 25; i++) server.addTool(`f${i}`, { ...described, handler: inlineFunction(stack, `F${i}`) });
  machines(20);
  const text = longest(stack);
  expect(text.length).toBeGreaterThan(25 * 64 + 20 * 80);
  expect(text.length).toBeLessThanOrEqual(4_096);
});

test('what may not fit is refused by the name of the tool, with the sum and what takes the room', () => {
  const { stack, server, machines } = makeServer({ env });
  for (let i = 10; i < 35; i++) {
    const arn = arnOf(`imported-function-with-a-long-name-${i}`);
    server.addTool(`f${i}`, { ...described, handler: LambdaFunction.fromFunctionArn(stack, `F${i}`, arn) });
  }
  const refused =
    /^Tool 'm(\d+)': the environment of the endpoint takes up to (\d+) bytes, and Lambda takes 4096\. 25 functions of forbidden tools take 2249, (\d+) state machines (\d+), the rest (\d+)\./;
  const error = (() => {
    try {
      machines(20);
    } catch (thrown) {
      return thrown as Error;
    }
    throw new Error('It was not refused');
  })();
  const [, last, sum, count, taken, rest] = (refused.exec(error.message) ?? []).map(Number);
  expect(count).toBe((last ?? 0) + 1);
  expect(2_249 + (taken ?? 0) + (rest ?? 0)).toBe(sum);
  expect(sum).toBeGreaterThan(4_096);
});

test('a function is invoked by its name where that is enough, by its ARN where it is not', () => {
  const { stack, server } = makeServer({ env });
  const text = (handler: IFunction) => stack.resolve(invocable(handler, server.endpoint).text);
  const mine = inlineFunction(stack, 'Mine');
  const name = stack.resolve(mine.functionName);
  expect(text(mine)).toEqual(name);
  const live = new Alias(stack, 'Live', { aliasName: 'live', version: mine.currentVersion as IVersion });
  expect(JSON.stringify(text(live as IFunction))).toMatch(/^\{"Fn::Join":\["",\[.*Live.*,":live"\]\]\}$/);
  for (const other of ['imported', 'imported:live']) {
    expect(text(LambdaFunction.fromFunctionArn(stack, other, arnOf(other)))).toBe(arnOf(other));
  }
  const elsewhere = new Stack(stack.node.root as App, 'Elsewhere', { env: { ...env, region: 'eu-west-1' } });
  const far = new LambdaFunction(elsewhere, 'Far', {
    ...{ functionName: 'far', runtime: Runtime.NODEJS_24_X, handler: 'index.handler' },
    code: Code.fromInline('exports.handler = async () => 1'),
  });
  expect(JSON.stringify(text(far))).toContain(':function:far');
});
