import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Auth, McpTaskServer, ToolFunction } from '../../../lib/index.ts';
import { AUDIENCE } from '../../support/oidc.ts';
import { handler as steps } from './steps.ts';

/** A server with verified callers, so that 2026-07-28 requests have an owner, too. An owner may hold one stream only. */
const stack = new Stack(new App(), 'Units');
const handler = new ToolFunction(stack, 'Tools', {
  entry: 'test/support/apps/tools.ts',
  timeout: Duration.seconds(60),
});
const { UNITS_ISSUER: issuer = '', UNITS_OPEN_TASKS: maxOpenTasks = '' } = process.env;
const server = new McpTaskServer(stack, 'Server', {
  auth: Auth.oauth({ issuer, audience: [AUDIENCE], scopes: ['mcp'] }),
  removalPolicy: RemovalPolicy.DESTROY,
  maxOpenTasks: Number(maxOpenTasks),
  maxStreams: 1,
});
const tool = { handler, description: 'd', inputSchema: { type: 'object' } } as const;
for (const name of ['echo', 'ask', 'sleep']) server.addTool(name, { ...tool, taskSupport: 'optional' });
server.addTool('direct_echo', tool);
const entry = 'test/bench/units/steps.ts';
server.addTool('steps', {
  ...steps.definition,
  handler: new ToolFunction(stack, 'Steps', { entry, timeout: Duration.minutes(10) }),
});
