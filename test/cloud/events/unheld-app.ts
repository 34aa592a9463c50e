import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Auth, McpTaskServer, ToolFunction } from '../../../lib/index.ts';
import { AUDIENCE } from '../../support/oidc.ts';

/** A server whose events are posted at once, also while their owner is busy. With `oauth` if MCP_TEST_ISSUER names an issuer. */
const stack = new Stack(new App(), 'Unheld');
const { MCP_TEST_ISSUER: issuer } = process.env;
const server = new McpTaskServer(stack, 'Server', {
  auth: issuer === undefined ? Auth.iam() : Auth.oauth({ issuer, audience: AUDIENCE, scopes: ['mcp'] }),
  removalPolicy: RemovalPolicy.DESTROY,
  events: { hold: Duration.seconds(0) },
});
const handler = new ToolFunction(stack, 'Tools', { entry: 'test/support/apps/tools.ts' });
const tool = { handler, description: 'd', inputSchema: { type: 'object' }, taskSupport: 'optional' } as const;
server.addTool('echo', tool);
server.addTool('ask', { ...tool, eventSummary: true });
