import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Auth, McpTaskServer } from 'mcp-task-server';

const stack = new Stack(new App(), 'McpTools');

const server = new McpTaskServer(stack, 'Server', {
  // Every caller that knows the URL may call. Before real use: Auth.oauth(…) or Auth.iam().
  auth: Auth.anonymous(),
  // The table of tasks is deleted with the stack. Before real use: remove this line.
  removalPolicy: RemovalPolicy.DESTROY,
});

server.addToolFile('count_words', 'tools/count-words.ts', { timeout: Duration.minutes(1) });
