import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { AccountPrincipal, type CfnRole, Role } from 'aws-cdk-lib/aws-iam';
import { Auth, McpTaskServer, ToolFunction } from '../../../lib/index.ts';

/** A server with MCP Events for callers that sign, and a few of the test tools. */
const stack = new Stack(new App(), 'Events');
const server = new McpTaskServer(stack, 'Server', {
  auth: Auth.iam(),
  removalPolicy: RemovalPolicy.DESTROY,
  events: true,
});
const { read, act, payload } = server.operatorPolicies;
for (const [id, managedPolicies] of Object.entries({ Reader: [read], Actor: [read, act], Auditor: [read, payload] })) {
  const role = new Role(stack, id, { assumedBy: new AccountPrincipal(stack.account), managedPolicies });
  (role.node.defaultChild as CfnRole).overrideLogicalId(id);
}
const handler = new ToolFunction(stack, 'Tools', {
  entry: 'test/support/apps/tools.ts',
  timeout: Duration.seconds(60),
});
const tool = { handler, description: 'd', inputSchema: { type: 'object' }, taskSupport: 'optional' } as const;
server.addTool('echo', tool);
server.addTool('sleep', tool);
server.addTool('ask', tool);
