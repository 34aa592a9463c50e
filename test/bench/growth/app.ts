import { App, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { McpTaskServer, oauth, ToolFunction } from '../../../lib/index.ts';
import { AUDIENCE } from '../../support/oidc.ts';

/** Callers are verified, so each has its own records and its own count of open tasks. */
const stack = new Stack(new App(), 'Growth');
const { GROWTH_ISSUER: issuer = '' } = process.env;
const server = new McpTaskServer(stack, 'Server', {
  auth: oauth({ issuer, audience: [AUDIENCE], scopes: ['mcp'] }),
  removalPolicy: RemovalPolicy.DESTROY,
});
const any = { inputSchema: { type: 'object' }, description: 'd', taskSupport: 'required' } as const;
for (const name of ['returns', 'asks']) {
  server.addTool(name, {
    ...any,
    handler: new ToolFunction(stack, name, { entry: 'test/bench/growth/tools.ts', handler: name }),
  });
}
