import { App, CfnOutput, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Key } from 'aws-cdk-lib/aws-kms';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { DefinitionBody, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Auth, McpTaskServer, ToolFunction } from '../../../lib/index.ts';

/**
 * The app that `npm run test:aws -- --create` deploys, and removes again. Callers must sign. With VERIFY_OPTIONS it has a
 * KMS key, a web ACL and a tool that is a version, none of which the embedded cloud knows.
 */
const region = process.env.CDK_DEFAULT_REGION;
const withOptions = process.env.VERIFY_OPTIONS !== undefined;
const stack = new Stack(new App(), 'McpTaskServerVerify', {
  description: 'Made by npm run test:aws -- --create: may be deleted at any time',
  ...(withOptions && region !== undefined && { env: { region } }),
});
const removalPolicy = RemovalPolicy.DESTROY;
const options = () => ({ encryptionKey: new Key(stack, 'Key', { removalPolicy }), waf: true }) as const;
const server = new McpTaskServer(stack, 'Server', {
  ...{ auth: Auth.iam(), removalPolicy },
  // For the check of a client that leaves.
  ...{ holdCap: Duration.seconds(10), maxStreams: 1 },
  ...(withOptions && options()),
});
const timeout = Duration.seconds(150);
const handler = new ToolFunction(stack, 'Tools', { entry: 'test/aws/verify/tools.ts', timeout });
const waits = {
  QueryLanguage: 'JSONata',
  StartAt: 'Wait',
  States: { Wait: { Type: 'Wait', Seconds: 150, End: true } },
};
const author = new StateMachine(stack, 'Author', { definitionBody: DefinitionBody.fromString(JSON.stringify(waits)) });

const task = { inputSchema: { type: 'object' }, taskSupport: 'optional' } as const;
server.addTool('nap', { ...task, handler, description: 'Works for the given milliseconds', timeout });
server.addTool('ask', { ...task, handler, description: 'Asks after the given milliseconds' });
server.addTool('large', { ...task, handler, description: 'Returns what goes to S3' });
server.addTool('credentials', { ...task, handler, description: 'Tries what its own role may do with its record' });
server.addTool('direct', { handler, description: 'Never runs as a task', inputSchema: { type: 'object' } });
server.addTool('machine', { ...task, stateMachine: author, description: 'Is a state machine that waits' });
if (withOptions) {
  const pinned = new ToolFunction(stack, 'Pinned', { entry: 'test/aws/verify/tools.ts', timeout });
  // CDK's own types disagree on the version of a function.
  server.addTool('pinned', { ...task, handler: pinned.currentVersion as IFunction, description: 'Is a version' });
}

new CfnOutput(stack, 'Endpoint', { value: server.url });
new CfnOutput(stack, 'NapMachine', { value: server.workflows.standard.stateMachine.stateMachineArn });
new CfnOutput(stack, 'AuthorMachine', { value: author.stateMachineArn });
new CfnOutput(stack, 'Results', { value: server.results.bucketName });
