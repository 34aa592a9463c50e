import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { deployService, greet, profileDataset } from '../functions/examples/tools.ts';
import { anonymous, McpTaskServer, ToolFunction } from '../lib/index.ts';

/** The app you edit: one server and its tools. */
const app = new App();
const stack = new Stack(app, 'McpTaskServer', { description: 'MCP tools as durable tasks' });

const server = new McpTaskServer(stack, 'Server', {
  auth: anonymous(),
  serverInfo: { name: 'mcp-task-server', version: '0.1.0', title: 'MCP task server' },
  // A trial stack: with real tasks in it, leave the table to RETAIN.
  removalPolicy: RemovalPolicy.DESTROY,
});

server.addTool('greet', { ...greet, timeout: Duration.seconds(greet.timeoutSeconds), handler: tool('greet', 5) });
server.addTool('profile_dataset', {
  ...profileDataset,
  timeout: Duration.seconds(profileDataset.timeoutSeconds),
  handler: tool('profile-dataset', profileDataset.timeoutSeconds),
});
server.addTool('deploy_service', {
  ...deployService,
  timeout: Duration.seconds(deployService.timeoutSeconds),
  handler: tool('deploy-service', 60),
});

/** A function of functions/examples; any other lambda.IFunction, in any language, will do. */
function tool(file: string, timeoutSeconds: number): ToolFunction {
  return new ToolFunction(stack, file, {
    entry: `functions/examples/${file}.ts`,
    timeout: Duration.seconds(timeoutSeconds),
  });
}
