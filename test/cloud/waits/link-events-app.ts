import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { Auth, McpTaskServer, ToolFunction } from '../../../lib/index.ts';

/** A server that publishes the links of its tasks, on a bus of its own. */
const stack = new Stack(new App(), 'LinkEvents');
const server = new McpTaskServer(stack, 'Server', {
  auth: Auth.anonymous(),
  removalPolicy: RemovalPolicy.DESTROY,
  maxTtl: Duration.days(30),
  eventBus: new EventBus(stack, 'Bus', { eventBusName: 'links' }),
  linkEvents: true,
});
server.addTool('waits', {
  handler: new ToolFunction(stack, 'Tools', { entry: 'test/cloud/waits/tools.ts', timeout: Duration.seconds(60) }),
  inputSchema: { type: 'object' },
  timeout: Duration.days(20),
  taskSupport: 'required',
  description: 'Ends its rounds with the given waits',
});
