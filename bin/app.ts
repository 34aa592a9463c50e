import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { DefinitionBody, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Auth, McpTaskServer, ToolFunction } from 'mcp-task-server';
import { handler as deployService } from '../functions/examples/deploy-service.ts';
import { handler as greet } from '../functions/examples/greet.ts';
import { inspectRegions } from '../functions/examples/inspect-regions.ts';
import { handler as profileDataset } from '../functions/examples/profile-dataset.ts';

/** The app you edit: one server and its tools. */
const app = new App();
const stack = new Stack(app, 'McpTaskServer', { description: 'MCP tools as durable tasks' });

const server = new McpTaskServer(stack, 'Server', {
  auth: Auth.anonymous(),
  serverInfo: { name: 'mcp-task-server', version: '0.1.0', title: 'MCP task server' },
  // This is for a trial. Once the stack has real tasks, remove the line: RETAIN is the default.
  removalPolicy: RemovalPolicy.DESTROY,
});

server.addTool('greet', { ...greet.definition, handler: tool('greet', 5) });
server.addTool('profile_dataset', { ...profileDataset.definition, handler: tool('profile-dataset', 60) });
server.addTool('deploy_service', { ...deployService.definition, handler: tool('deploy-service', 60) });
server.addTool('inspect_regions', {
  ...inspectRegions,
  stateMachine: new StateMachine(stack, 'inspect-regions', {
    definitionBody: DefinitionBody.fromFile('functions/examples/inspect-regions.asl.json'),
  }),
});

/** Makes a function from functions/examples. Any other lambda.IFunction, in any language, works too. */
function tool(file: string, timeoutSeconds: number): ToolFunction {
  return new ToolFunction(stack, file, {
    entry: `functions/examples/${file}.ts`,
    timeout: Duration.seconds(timeoutSeconds),
  });
}
