import { fileURLToPath } from 'node:url';
import { App, Duration, Stack } from 'aws-cdk-lib';
import { Architecture, Runtime } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { Construct } from 'constructs';
import { anonymous, McpTaskServer } from '../../lib/index.ts';
import { fixtures } from './fixtures/catalog.ts';
import { type Fixture, noArguments } from './fixtures/fixture.ts';

/** The server the conformance suite runs against: the product, with the suite's own tools registered. */
const stack = new Stack(new App(), 'McpConformance');
const server = new McpTaskServer(stack, 'Server', { auth: anonymous() });
const handler = fixtureFunction(stack);
for (const fixture of fixtures) server.addTool(fixture.name, { handler, ...registration(fixture) });

function fixtureFunction(scope: Construct): NodejsFunction {
  return new NodejsFunction(scope, 'Fixtures', {
    entry: fileURLToPath(new URL('./fixtures/index.ts', import.meta.url)),
    handler: 'handler',
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    // slow_compute sleeps up to a minute.
    timeout: Duration.seconds(90),
    bundling: { format: OutputFormat.CJS, minify: true, target: 'node24', mainFields: ['module', 'main'] },
  });
}

function registration(fixture: Fixture) {
  const { description, inputSchema = noArguments, taskSupport = 'forbidden', askFirst = false } = fixture;
  return { description, inputSchema, taskSupport, ...(askFirst && { askFirst }) };
}
