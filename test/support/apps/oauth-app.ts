import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Auth, McpTaskServer, ToolFunction } from '../../../lib/index.ts';
import { AUDIENCE } from '../oidc.ts';

/** A few of the test tools, with `oauth` if MCP_TEST_ISSUER names an issuer, else with `iam`. */
const stack = new Stack(new App(), 'Test');
const handler = new ToolFunction(stack, 'Tools', {
  entry: 'test/support/apps/tools.ts',
  timeout: Duration.seconds(60),
});
// MCP_TEST_BRIEF: windows and holds of this many seconds.
const { MCP_TEST_ISSUER: issuer, MCP_TEST_URL: publicUrl, MCP_TEST_BRIEF: brief } = process.env;
const server = new McpTaskServer(stack, 'Server', {
  auth:
    issuer === undefined
      ? Auth.iam()
      : Auth.oauth({
          issuer,
          audience: [AUDIENCE, `${publicUrl}/mcp`],
          scopes: ['mcp'],
          callerClaims: ['email', 'groups'],
        }),
  removalPolicy: RemovalPolicy.DESTROY,
  ...(publicUrl !== undefined && { publicUrl }),
  ...(brief && { inlineWindow: Duration.seconds(Number(brief)), holdCap: Duration.seconds(Number(brief)) }),
});

const tool = { handler, description: 'd', inputSchema: { type: 'object' }, taskSupport: 'optional' } as const;
server.addTool('echo', tool);
server.addTool('caller', tool);
server.addTool('sleep', tool);
server.addTool('ask', tool);
server.addTool('confide', tool);
server.addTool('direct_confide', { ...tool, taskSupport: 'forbidden' });
server.addTool('direct_echo', { ...tool, taskSupport: 'forbidden' });
if (issuer !== undefined) {
  server.addToolFile('files', 'test/cloud/files/tool.ts', { timeout: Duration.seconds(60) });
  server.addTool('ask_scoped', { ...tool, scopes: ['ops:deploy'] });
  server.addTool('event', { ...tool, scopes: ['ops:deploy'] });
  server.addTool('direct_throws', { ...tool, taskSupport: 'forbidden', scopes: ['ops:deploy', 'ops:read'] });
}
