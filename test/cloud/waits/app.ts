import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Auth, McpTaskServer, ToolFunction } from '../../../lib/index.ts';

/** Tools whose rounds wait for days. */
const stack = new Stack(new App(), 'Waits');
const server = new McpTaskServer(stack, 'Server', {
  auth: Auth.anonymous(),
  removalPolicy: RemovalPolicy.DESTROY,
  maxTtl: Duration.days(366),
});
const handler = new ToolFunction(stack, 'Tools', {
  entry: 'test/cloud/waits/tools.ts',
  timeout: Duration.seconds(60),
});
const tool = { handler, inputSchema: { type: 'object' }, timeout: Duration.days(100) } as const;

server.addTool('waits', { ...tool, taskSupport: 'required', description: 'Ends its rounds with the given waits' });
server.addTool('waits_express', {
  ...tool,
  taskSupport: 'optional',
  engine: 'express',
  annotations: { idempotentHint: true },
  description: 'The same on Express',
});

const author = new ToolFunction(stack, 'Author', {
  entry: 'test/cloud/waits/author.ts',
  timeout: Duration.seconds(60),
});
const byAuthor = { ...tool, handler: author, annotations: { idempotentHint: true } } as const;

server.addTool('author', { ...byAuthor, taskSupport: 'required', description: 'Waits as a tool in code does' });
server.addTool('author_express', {
  ...byAuthor,
  taskSupport: 'optional',
  engine: 'express',
  description: 'The same on Express',
});
server.addTool('author_short', {
  ...byAuthor,
  handler: new ToolFunction(stack, 'Short', { entry: 'test/cloud/waits/author.ts', timeout: Duration.seconds(3) }),
  taskSupport: 'required',
  description: 'The same with a function of three seconds',
});
