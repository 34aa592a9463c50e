import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { expect, test } from 'vitest';
import { Auth, McpTaskServer } from '../../lib/index.ts';

/**
 * Types of resources that lose something when CloudFormation replaces them: data, running tasks, the URL. By type, the
 * properties whose change replaces the resource ("Update requires: Replacement" in the CloudFormation reference).
 */
const STATEFUL: Readonly<Record<string, readonly string[]>> = {
  'AWS::ApiGateway::RestApi': [],
  'AWS::ApiGateway::Stage': ['StageName'],
  'AWS::DynamoDB::GlobalTable': ['TableName', 'KeySchema', 'LocalSecondaryIndexes'],
  'AWS::Logs::LogGroup': ['LogGroupName'],
  'AWS::S3::Bucket': ['BucketName', 'ObjectLockEnabled'],
  'AWS::SQS::Queue': ['QueueName', 'FifoQueue'],
  'AWS::SecretsManager::Secret': ['Name'],
  'AWS::StepFunctions::StateMachine': ['StateMachineName', 'StateMachineType'],
};

interface Resource {
  readonly Type: string;
  readonly UpdateReplacePolicy?: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

function template(id: string): Partial<Record<string, Record<string, Resource>>> {
  const stack = new Stack(new App(), 'S');
  const handler = new LambdaFunction(stack, 'F', {
    runtime: Runtime.NODEJS_24_X,
    handler: 'index.handler',
    code: Code.fromInline('exports.handler = async () => 1'),
  });
  const auth = Auth.oauth({ issuer: 'https://login.example.com', audience: ['https://mcp.example.com/mcp'] });
  const server = new McpTaskServer(stack, id, { auth, publicUrl: 'https://mcp.example.com' });
  server.addTool('render.report', {
    description: 'd',
    inputSchema: { type: 'object' },
    handler,
    taskSupport: 'optional',
  });
  return Template.fromStack(stack).toJSON();
}

/** By logical id: the type of the resource, and the values of properties that replace it. */
function stateful(id: string): Record<string, object> {
  const { Resources = {}, Outputs = {} } = template(id);
  const kept = Object.entries(Resources).flatMap(([name, { Type, Properties = {} }]) => {
    const fields = STATEFUL[Type];
    if (fields === undefined) return [];
    const given = fields.filter((field) => field in Properties).map((field) => [field, Properties[field]] as const);
    return [[name, { Type, ...Object.fromEntries(given) }] as const];
  });
  return { ...Object.fromEntries(kept), outputs: Object.keys(Outputs) };
}

/**
 * An upgrade replaces none of these. A change of the file is a new major version: it loses what users have, and
 * CHANGELOG.md has to say what to do. `npm test -- test/stack/stateful.test.ts --update` writes it.
 */
test('an upgrade keeps the logical ids of all that holds data, as stateful.snap says', async () => {
  await expect(`${JSON.stringify(stateful('Server'), undefined, 2)}\n`).toMatchFileSnapshot('stateful.snap');
});

test('every resource that outlives its replacement is among them', () => {
  const { Resources = {} } = template('Server');
  const kept = Object.entries(Resources).filter(([, { UpdateReplacePolicy }]) => UpdateReplacePolicy === 'Retain');
  expect(kept.length).toBeGreaterThan(1);
  for (const [name, { Type }] of kept) expect(STATEFUL, name).toHaveProperty([Type]);
});

test('the judge sees another logical id', () => {
  expect(Object.keys(stateful('Other'))).not.toEqual(Object.keys(stateful('Server')));
});
