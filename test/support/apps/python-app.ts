import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { Auth, McpTaskServer } from '../../../lib/index.ts';

/** A server whose tool is written in Python. */
const stack = new Stack(new App(), 'Python');
const server = new McpTaskServer(stack, 'Server', { auth: Auth.anonymous(), removalPolicy: RemovalPolicy.DESTROY });
server.addTool('count_primes', {
  description: 'Counts primes',
  inputSchema: { type: 'object', properties: { limit: { type: 'integer' } }, required: ['limit'] },
  taskSupport: 'optional',
  timeout: Duration.minutes(5),
  handler: new LambdaFunction(stack, 'CountPrimes', {
    runtime: Runtime.PYTHON_3_13,
    handler: 'count_primes.handler',
    code: Code.fromAsset('functions/examples/python', { exclude: ['__pycache__'] }),
    timeout: Duration.minutes(5),
  }),
});
