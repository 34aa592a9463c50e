import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Auth, McpTaskServer, ToolFunction } from '../../../lib/index.ts';

/** A server with MCP Events for callers that sign, and a few of the test tools. */
const stack = new Stack(new App(), 'Events');
const server = new McpTaskServer(stack, 'Server', {
  auth: Auth.iam(),
  removalPolicy: RemovalPolicy.DESTROY,
  events: true,
});
const handler = new ToolFunction(stack, 'Tools', {
  entry: 'test/support/apps/tools.ts',
  timeout: Duration.seconds(60),
});
const tool = { handler, description: 'd', inputSchema: { type: 'object' }, taskSupport: 'optional' } as const;
server.addTool('echo', tool);
server.addTool('sleep', tool);
server.addTool('ask', tool);
