import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { anonymous, McpTaskServer, ToolFunction } from '../../lib/index.ts';

/** Tools whose schemas take certain short arguments years to judge, without any guard. */
const stack = new Stack(new App(), 'Slow');
const server = new McpTaskServer(stack, 'Server', { auth: anonymous(), removalPolicy: RemovalPolicy.DESTROY });
const handler = new ToolFunction(stack, 'Tools', { entry: 'test/support/tools.ts', timeout: Duration.seconds(60) });
const tool = { handler, description: 'd', taskSupport: 'forbidden' } as const;
server.addTool('direct_echo', { ...tool, inputSchema: { type: 'object' } });
server.addTool('slug', {
  ...tool,
  inputSchema: { type: 'object', properties: { slug: { type: 'string', pattern: '^([a-z0-9]+-?)+$' } } },
});
server.addTool('rows', {
  ...tool,
  inputSchema: { type: 'object', properties: { rows: { type: 'array', uniqueItems: true } } },
});
