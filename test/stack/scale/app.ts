import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Duration, Stack } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { inspectRegions } from '../../../functions/examples/inspect-regions.ts';
import { Auth, McpTaskServer, ToolFunction } from '../../../lib/index.ts';

/** As many tools as one server takes, each a function of its own with the schemas of inspect_regions. */
const stack = new Stack(new App(), 'Many');
const server = new McpTaskServer(stack, 'Server', { auth: Auth.anonymous() });
const folder = mkdtempSync(join(tmpdir(), 'many-tools-'));
writeFileSync(
  join(folder, 'index.js'),
  'exports.handler = async ({ name }) => ({ content: [], structuredContent: { regions: [], best: name } });',
);
for (let i = 1; i <= 100; i++) {
  server.addTool(`inspect_regions_${i}`, {
    ...inspectRegions,
    handler: new ToolFunction(stack, `InspectRegions${i}`, {
      ...{ entry: '', code: Code.fromAsset(folder), handler: 'index.handler', timeout: Duration.seconds(60) },
    }),
  });
}
rmSync(folder, { recursive: true });
