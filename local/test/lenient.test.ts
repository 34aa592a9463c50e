import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { SERVER_MARK } from '../marks.ts';
import type { Stack, TemplateResource } from '../template/assembly.ts';
import { reachedByServer } from '../template/lenient.ts';
import { resolveStack } from '../template/resources.ts';

const at = (path: string) => ({ 'aws:cdk:path': `App/${path}/Resource` });
const resource = (Type: string, path: string, Properties: JsonObject = {}): TemplateResource => ({
  ...{ Type, Properties },
  Metadata: at(path),
});
const marked = (endpoint: TemplateResource): TemplateResource => ({
  ...endpoint,
  Metadata: { ...endpoint.Metadata, [SERVER_MARK]: { tools: {} } },
});
const endpoint = marked(
  resource('AWS::Lambda::Function', 'Server/Endpoint', { Environment: { Variables: { TOOLS: { Ref: 'Tool' } } } }),
);

function stackOf(Resources: Record<string, TemplateResource>, name = 'App'): Stack {
  const template = { Resources, Parameters: {}, Conditions: {}, Outputs: { Topic: { Value: { Ref: 'Topic' } } } };
  return { name, region: 'us-east-1', account: '000000000000', template, assets: new Map() };
}
const keptOf = (Resources: Record<string, TemplateResource>) => {
  const { stacks, leftAlone } = reachedByServer([stackOf(Resources)]);
  return { kept: stacks[0]?.template.Resources ?? {}, leftAlone: Object.fromEntries(leftAlone), stacks };
};

describe('the resources that a server reaches', () => {
  const app = {
    Endpoint: endpoint,
    Tool: resource('AWS::Lambda::Function', 'Tool', {
      Role: { 'Fn::GetAtt': ['ToolRole', 'Arn'] },
      VpcConfig: { SubnetIds: [{ Ref: 'Subnet' }] },
      Environment: {
        Variables: {
          TOPIC: { Ref: 'Topic' },
          ARN: { 'Fn::GetAtt': ['Topic', 'TopicArn'] },
          TEXT: { 'Fn::Sub': 'x-${Topic}-${AWS::Region}' },
          SECRET: '{{resolve:ssm:/a/b}}',
        },
      },
    }),
    ToolRole: resource('AWS::IAM::Role', 'Tool/Role'),
    ToolPolicy: resource('AWS::IAM::Policy', 'Tool/Role/Policy', {
      PolicyName: 'p',
      Roles: [{ Ref: 'ToolRole' }],
      PolicyDocument: { Statement: [{ Resource: { 'Fn::GetAtt': ['Orders', 'Arn'] } }] },
    }),
    Orders: resource('AWS::DynamoDB::Table', 'Orders'),
    Other: resource('AWS::DynamoDB::Table', 'Other'),
    Topic: resource('AWS::MSK::Topic', 'Topic'),
    Subnet: resource('AWS::EC2::Subnet', 'Subnet'),
    Vpc: resource('AWS::EC2::VPC', 'Vpc'),
  };

  test('are its construct, its tools, their policies and all that these name', () => {
    const { kept, leftAlone } = keptOf(app);
    expect(Object.keys(kept)).toEqual(['Endpoint', 'Tool', 'ToolRole', 'ToolPolicy', 'Orders']);
    expect(leftAlone).toEqual({ 'AWS::DynamoDB': 1, 'AWS::MSK': 1, 'AWS::EC2': 2 });
  });

  test('have names in place of resources left alone, and known properties only', () => {
    const { kept, stacks } = keptOf(app);
    expect(kept.Tool?.Properties).not.toHaveProperty('VpcConfig');
    const [resolved] = stacks.map(resolveStack);
    const tool = resolved?.resources.find(({ logicalId }) => logicalId === 'Tool');
    expect(tool?.properties.Environment).toEqual({
      Variables: {
        TOPIC: 'Topic',
        ARN: 'arn:aws:not-run-locally:::Topic',
        TEXT: 'x-Topic-us-east-1',
        SECRET: 'not-run-locally',
      },
    });
    expect(resolved?.outputs).toEqual({});
  });
});

test('event source mappings of the construct run, others are left alone', () => {
  const mapping = (path: string, table: string) =>
    resource('AWS::Lambda::EventSourceMapping', path, { EventSourceArn: { 'Fn::GetAtt': [table, 'StreamArn'] } });
  const StreamSpecification = { StreamViewType: 'NEW_IMAGE', ResourcePolicy: {} };
  const { kept, leftAlone } = keptOf({
    Endpoint: endpoint,
    Tool: resource('AWS::Lambda::Function', 'Tool', { Environment: { Variables: { ORDERS: { Ref: 'Orders' } } } }),
    Tasks: resource('AWS::DynamoDB::Table', 'Tasks'),
    Own: mapping('Server/TaskEvents/Source', 'Tasks'),
    Orders: resource('AWS::DynamoDB::Table', 'Orders', { StreamSpecification }),
    Theirs: mapping('Orders/Source', 'Orders'),
  });
  expect(Object.keys(kept)).toEqual(['Endpoint', 'Tool', 'Tasks', 'Own', 'Orders']);
  expect(kept.Orders?.Properties).toEqual({ StreamSpecification: { StreamViewType: 'NEW_IMAGE' } });
  expect(leftAlone).toEqual({ 'AWS::Lambda': 1 });
});

test('an app without a server, or with two, is refused with a remedy', () => {
  expect(() => keptOf({ Topic: resource('AWS::SNS::Topic', 'Topic') })).toThrow('this app has no McpTaskServer');
  const two = [stackOf({ Endpoint: endpoint }, 'One'), stackOf({ Endpoint: endpoint }, 'Two')];
  expect(() => reachedByServer(two)).toThrow(
    'more than one stack has an McpTaskServer: choose one with --stack: One, Two',
  );
  expect(reachedByServer(two, 'Two').stacks.map(({ name }) => name)).toEqual(['Two']);
  expect(() => reachedByServer(two, 'Three')).toThrow('the stack Three has no McpTaskServer');
});
