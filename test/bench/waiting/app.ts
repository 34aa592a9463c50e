import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Auth, McpTaskServer, ToolFunction } from '../../../lib/index.ts';

/** One function that mostly waits. */
const stack = new Stack(new App(), 'Waiting');
const handler = new ToolFunction(stack, 'Tools', {
  entry: 'test/bench/waiting/tools.ts',
  timeout: Duration.seconds(120),
});
const server = new McpTaskServer(stack, 'Server', { auth: Auth.anonymous(), removalPolicy: RemovalPolicy.DESTROY });
const inputSchema = { type: 'object' } as const;
server.addTool('plain', { handler, inputSchema, description: 'Answers at once' });
server.addTool('stamp', { handler, inputSchema, description: 'Says when it began', taskSupport: 'optional' });
server.addTool('nap', { handler, inputSchema, description: 'Sleeps', taskSupport: 'optional' });
