import { App, type CfnElement, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { expect, test } from 'vitest';
import { anonymous, McpTaskServer, ToolFunction } from '../../../lib/index.ts';

test('the endpoint shares its workers, a ToolFunction when it says so, and no other function', () => {
  const stack = new Stack(new App(), 'S');
  const entry = 'test/bench/waiting/tools.ts';
  const waits = new ToolFunction(stack, 'Waits', { entry, sharedWorker: true });
  const computes = new ToolFunction(stack, 'Computes', { entry });
  const server = new McpTaskServer(stack, 'Server', { auth: anonymous() });
  for (const [name, handler] of Object.entries({ waits, computes })) {
    server.addTool(name, { handler, description: 'd', inputSchema: { type: 'object' } });
  }
  const functions = Template.fromStack(stack).findResources('AWS::Lambda::Function');
  const marks = Object.entries(functions).filter(([, { Metadata }]) => Metadata?.['mcp-task-server:sharedWorker']);
  const idOf = ({ node }: LambdaFunction) => stack.resolve((node.defaultChild as CfnElement).logicalId) as string;
  expect(marks.map(([id]) => id).sort()).toEqual([waits, server.endpoint].map(idOf).sort());
  expect(Object.keys(functions).length).toBeGreaterThan(3);
});
