import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Auth, McpTaskServer, ToolFunction } from '../../../lib/index.ts';

/** Tools with results of every size. Requests of the endpoint to S3 go to MCP_TEST_S3, where a test can interfere. */
const stack = new Stack(new App(), 'Large');
const handler = new ToolFunction(stack, 'Tools', {
  entry: 'test/support/apps/large-tools.ts',
  timeout: Duration.seconds(60),
});
const server = new McpTaskServer(stack, 'Server', { auth: Auth.anonymous(), removalPolicy: RemovalPolicy.DESTROY });
const s3 = process.env.MCP_TEST_S3;
if (s3 !== undefined) (server.endpoint as LambdaFunction).addEnvironment('AWS_ENDPOINT_URL_S3', s3);

const tool = {
  handler,
  description: 'Returns many bytes',
  inputSchema: { type: 'object' },
  taskSupport: 'optional',
} as const;
server.addTool('large', tool);
server.addTool('raw', tool);
server.addTool('crashes', { ...tool, annotations: { idempotentHint: true } });
server.addTool('differs', { ...tool, engine: 'express', annotations: { idempotentHint: true } });
server.addTool('promise', {
  ...tool,
  outputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
});
