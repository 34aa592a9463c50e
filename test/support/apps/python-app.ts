import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { Auth, McpTaskServer } from '../../../lib/index.ts';

/** A server whose tools are written in Python. */
const stack = new Stack(new App(), 'Python');
const server = new McpTaskServer(stack, 'Server', {
  auth: Auth.anonymous(),
  removalPolicy: RemovalPolicy.DESTROY,
  maxTtl: Duration.days(5),
});
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

const folder = mkdtempSync(join(tmpdir(), 'mcp-python-tool-'));
cpSync('functions/examples/python', folder, { recursive: true });
cpSync('test/cloud/waits/buys.py', join(folder, 'buys.py'));
cpSync('test/cloud/files/films.py', join(folder, 'films.py'));
server.addTool('buys', {
  description: 'Waits for a person and another system',
  inputSchema: { type: 'object' },
  taskSupport: 'required',
  timeout: Duration.days(4),
  handler: new LambdaFunction(stack, 'Buys', {
    runtime: Runtime.PYTHON_3_13,
    handler: 'buys.handler',
    code: Code.fromAsset(folder, { exclude: ['__pycache__'] }),
    timeout: Duration.seconds(4),
  }),
});
server.addTool('films', {
  description: 'Stores files',
  inputSchema: { type: 'object' },
  taskSupport: 'required',
  files: true,
  handler: new LambdaFunction(stack, 'Films', {
    runtime: Runtime.PYTHON_3_13,
    handler: 'films.handler',
    code: Code.fromAsset(folder, { exclude: ['__pycache__'] }),
    memorySize: 512,
    timeout: Duration.minutes(1),
  }),
});
rmSync(folder, { recursive: true });
