import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Auth, McpTaskServer, ToolFunction } from '../../../lib/index.ts';

/** One tool that answers at once, and MCP Events that are held for as many ms as MCP_BENCH_HOLD says. */
const stack = new Stack(new App(), 'Deliveries');
const handler = new ToolFunction(stack, 'Tool', { entry: 'test/bench/cloud/tool.ts' });
const server = new McpTaskServer(stack, 'Server', {
  auth: Auth.iam(),
  removalPolicy: RemovalPolicy.DESTROY,
  events: { hold: Duration.millis(Number(process.env.MCP_BENCH_HOLD)) },
});
server.addTool('short', {
  handler,
  inputSchema: { type: 'object' },
  description: 'Answers at once',
  taskSupport: 'required',
});
