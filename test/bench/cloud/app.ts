import { App, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Auth, McpTaskServer, ToolFunction } from '../../../lib/index.ts';

/** One tool that answers at once. */
const stack = new Stack(new App(), 'Short');
const handler = new ToolFunction(stack, 'Tool', { entry: 'test/bench/cloud/tool.ts' });
const server = new McpTaskServer(stack, 'Server', { auth: Auth.anonymous(), removalPolicy: RemovalPolicy.DESTROY });
server.addTool('short', {
  handler,
  inputSchema: { type: 'object' },
  description: 'Answers at once',
  taskSupport: 'required',
});
