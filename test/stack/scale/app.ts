import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Duration, Stack } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { handler } from '../../../functions/examples/profile-dataset.ts';
import { Auth, McpTaskServer, ToolFunction } from '../../../lib/index.ts';

/** As many tools as one server takes, each a function of its own with the schemas of profile_dataset. */
const stack = new Stack(new App(), 'Many');
const server = new McpTaskServer(stack, 'Server', { auth: Auth.anonymous() });
const folder = mkdtempSync(join(tmpdir(), 'many-tools-'));
writeFileSync(
  join(folder, 'index.js'),
  'exports.handler = async ({ name }) => ({ content: [], structuredContent: { rows: 0, columns: [{ name, missing: 0, distinct: 0 }], outliers: 0 } });',
);
for (let i = 1; i <= 100; i++) {
  server.addTool(`profile_dataset_${i}`, {
    ...handler.definition,
    handler: new ToolFunction(stack, `ProfileDataset${i}`, {
      ...{ entry: '', code: Code.fromAsset(folder), handler: 'index.handler', timeout: Duration.seconds(60) },
    }),
  });
}
rmSync(folder, { recursive: true });
