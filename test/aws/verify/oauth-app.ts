import { App, CfnOutput, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Auth, McpTaskServer, ToolFunction } from '../../../lib/index.ts';

/** An app for docs/verify-on-aws.md: which callers are refused, and how. ISSUER and AUDIENCE come from its user pool. */
const { ISSUER: issuer, AUDIENCE: audience } = process.env;
if (issuer === undefined || audience === undefined) throw new Error('Set ISSUER and AUDIENCE');
const stack = new Stack(new App(), 'McpTaskServerVerifyOauth', {
  description: 'docs/verify-on-aws.md: may be deleted',
});
const server = new McpTaskServer(stack, 'Server', {
  auth: Auth.oauth({ issuer, audience, scopes: ['mcp/tasks'] }),
  removalPolicy: RemovalPolicy.DESTROY,
});
const handler = new ToolFunction(stack, 'Tools', { entry: 'test/aws/verify/tools.ts' });
const tool = { handler, inputSchema: { type: 'object' }, taskSupport: 'optional' } as const;
server.addTool('open', { ...tool, description: 'For every caller with mcp/tasks' });
server.addTool('guarded', { ...tool, description: 'For callers with mcp/ops', scopes: ['mcp/ops'] });
new CfnOutput(stack, 'Endpoint', { value: server.url });
