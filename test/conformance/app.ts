import { App, Duration, Stack } from 'aws-cdk-lib';
import { Auth, McpTaskServer, ToolFunction } from '../../lib/index.ts';
import { fixtures } from './fixtures/catalog.ts';
import { type Fixture, noArguments } from './fixtures/fixture.ts';

/** The server the conformance suite runs against: the product, with the suite's own tools registered. */
const stack = new Stack(new App(), 'McpConformance');
const server = new McpTaskServer(stack, 'Server', { auth: Auth.anonymous() });
// slow_compute sleeps up to a minute.
const handler = new ToolFunction(stack, 'Fixtures', {
  entry: 'test/conformance/fixtures/index.ts',
  timeout: Duration.seconds(90),
});
for (const fixture of fixtures) server.addTool(fixture.name, { handler, ...registration(fixture) });
// With it, the server has resources.
server.addToolFile('files', 'test/cloud/files/tool.ts', { timeout: Duration.seconds(60) });

function registration({ description, inputSchema = noArguments, taskSupport = 'forbidden', askFirst }: Fixture) {
  return { description, inputSchema, taskSupport, ...(askFirst && { askFirst }) };
}
