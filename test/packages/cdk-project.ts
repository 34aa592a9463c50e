// The files that a person adds to the project that `cdk init` made in a folder `app`.

export const stack = `import * as cdk from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { Auth, McpTaskServer } from 'mcp-task-server';

export class AppStack extends cdk.Stack {
  readonly server: McpTaskServer;

  constructor(scope: Construct, id: string, props?: cdk.StackProps) {
    super(scope, id, props);
    this.server = new McpTaskServer(this, 'Server', { auth: Auth.anonymous() });
    this.server.addToolFile('count_words', 'tools/count-words.ts', { timeout: cdk.Duration.seconds(30) });
  }
}
`;

export const test = `import * as cdk from 'aws-cdk-lib/core';
import { Template } from 'aws-cdk-lib/assertions';
import { runTool } from 'mcp-task-server/testing';
import { AppStack } from '../lib/app-stack';
import { handler } from '../tools/count-words';

test('the tool counts words', async () => {
  const { result } = await runTool(handler, { text: 'one two two' });
  expect(result).toEqual({ total: 3, counts: { one: 1, two: 2 } });
});

test('the stack has a table', () => {
  const stack = new AppStack(new cdk.App(), 'Test');
  Template.fromStack(stack).resourceCountIs('AWS::DynamoDB::GlobalTable', 1);
});
`;

/** Serves what `cdk synth` wrote, and calls the tool with the official client. */
export const call = `import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { callTask } from 'mcp-task-server/client';
import { startCloud } from 'mcp-task-server-local';

const cloud = await startCloud({ assembly: 'cdk.out' });
const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
await client.connect(new StreamableHTTPClientTransport(new URL(cloud.url + '/mcp')));
const tasks: string[] = [];
const onTask = (taskId: string) => void tasks.push(taskId);
const { structuredContent } = await callTask(client, 'count_words', { text: 'one two two' }, { onTask });
console.log(JSON.stringify({ structuredContent, tasks: tasks.length }));
await client.close();
await cloud.stop();
`;
