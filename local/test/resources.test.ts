// biome-ignore-all lint/suspicious/noTemplateCurlyInString: CloudFormation writes references like this.
import { describe, expect, test } from 'vitest';
import { readApi } from '../api-gateway/routes.ts';
import { startCloud } from '../cloud.ts';
import { readAssembly } from '../template/assembly.ts';
import { resolveStack } from '../template/resources.ts';
import { readSpecs } from '../template/specs.ts';
import { functionResource, type HandMade, tableResource, writeAssembly } from './fixture.ts';

const load = (assembly: HandMade) => {
  const stacks = readAssembly(writeAssembly(assembly)).map(resolveStack);
  return { stacks, specs: readSpecs(stacks), api: readApi(stacks) };
};

describe('a cloud is refused at start', () => {
  const at = { Metadata: { 'aws:cdk:path': 'Test/Made/Resource' } };
  const machine = (properties: object) => ({ Type: 'AWS::StepFunctions::StateMachine', Properties: properties });
  const method = (properties: object) => ({
    Api: { Type: 'AWS::ApiGateway::RestApi' },
    Made: {
      Type: 'AWS::ApiGateway::Method',
      Properties: {
        ResourceId: { 'Fn::GetAtt': ['Api', 'RootResourceId'] },
        HttpMethod: 'GET',
        Integration: { Type: 'AWS_PROXY', Uri: 'arn:x:functions/arn:fn/invocations' },
        ...properties,
      },
    },
  });
  const unknown = 'the embedded cloud does not know';
  const REFUSED: [name: string, resources: Record<string, unknown>, message: string][] = [
    [
      'for a type it does not know',
      { Pool: { Type: 'AWS::Cognito::UserPool', Properties: {}, ...at } },
      `${unknown} AWS::Cognito::UserPool (stack Test, Pool, Test/Made/Resource)`,
    ],
    [
      'for a property it does not know',
      { Table: { Type: 'AWS::DynamoDB::Table', Properties: { KinesisStreamSpecification: {} } } },
      `${unknown} the property KinesisStreamSpecification of AWS::DynamoDB::Table (stack Test, Table)`,
    ],
    [
      'for a property inside another',
      { Fn: { Type: 'AWS::Lambda::Function', Properties: { Code: { ZipFile: 'x' } }, ...at } },
      `${unknown} the property Code.ZipFile of AWS::Lambda::Function (stack Test, Fn, Test/Made/Resource)`,
    ],
    [
      'for a property inside a list',
      { Table: tableResource({ Replicas: [{ Region: 'us-east-1', KinesisStreamSpecification: {} }] }) },
      `${unknown} the property Replicas[].KinesisStreamSpecification of AWS::DynamoDB::GlobalTable (stack Test, Table)`,
    ],
    [
      'for a second replica',
      { Table: tableResource({ Replicas: [{ Region: 'us-east-1' }, { Region: 'eu-west-1' }] }) },
      `${unknown} Replicas [{"Region":"us-east-1"},{"Region":"eu-west-1"}] of AWS::DynamoDB::GlobalTable (stack Test, Table)`,
    ],
    [
      'for another runtime',
      { Fn: functionResource('code', { Runtime: 'java25' }) },
      `${unknown} Runtime "java25" of AWS::Lambda::Function (stack Test, Fn)`,
    ],
    [
      'for code it does not have',
      { Fn: functionResource('elsewhere') },
      `${unknown} Code.S3Key "elsewhere.zip" of AWS::Lambda::Function (stack Test, Fn)`,
    ],
    [
      'for a state machine that is neither standard nor express',
      { Made: machine({ StateMachineType: 'SYNC', DefinitionString: '{}' }) },
      `${unknown} StateMachineType "SYNC" of AWS::StepFunctions::StateMachine (stack Test, Made)`,
    ],
    [
      'for an integration that is neither a proxy of Lambda nor a mock',
      method({ Integration: { Type: 'HTTP_PROXY' } }),
      `${unknown} Integration.Type "HTTP_PROXY" of AWS::ApiGateway::Method (stack Test, Made)`,
    ],
    [
      'for a path with a greedy parameter',
      {
        ...method({}),
        Api: { Type: 'AWS::ApiGateway::RestApi' },
        Part: {
          Type: 'AWS::ApiGateway::Resource',
          Properties: { ParentId: { 'Fn::GetAtt': ['Api', 'RootResourceId'] }, PathPart: '{id+}' },
        },
        Made: {
          Type: 'AWS::ApiGateway::Method',
          Properties: { HttpMethod: 'GET', ResourceId: { Ref: 'Part' }, AuthorizationType: 'NONE' },
        },
      },
      `${unknown} ResourceId "/{id+}" of AWS::ApiGateway::Method (stack Test, Made)`,
    ],
    [
      'for a method that wants an API key',
      method({ ApiKeyRequired: true }),
      `${unknown} ApiKeyRequired true of AWS::ApiGateway::Method (stack Test, Made)`,
    ],
    [
      'for another kind of authorization',
      method({ AuthorizationType: 'COGNITO_USER_POOLS' }),
      `${unknown} AuthorizationType "COGNITO_USER_POOLS" of AWS::ApiGateway::Method (stack Test, Made)`,
    ],
    [
      'for another kind of authorizer',
      { ...method({}), Made: { Type: 'AWS::ApiGateway::Authorizer', Properties: { Type: 'TOKEN' } } },
      `${unknown} Type "TOKEN" of AWS::ApiGateway::Authorizer (stack Test, Made)`,
    ],
    [
      'for a second API',
      { A: { Type: 'AWS::ApiGateway::RestApi' }, B: { Type: 'AWS::ApiGateway::RestApi' } },
      `${unknown} a second AWS::ApiGateway::RestApi (stack Test, B)`,
    ],
  ];
  test.each(REFUSED)('%s', async (_name, resources, message) => {
    const assembly = writeAssembly({ resources, assets: { code: '' } });
    await expect(startCloud({ assembly })).rejects.toThrow(message);
  });

  test('for everything it does not know at once', async () => {
    const resources = { A: { Type: 'AWS::Kinesis::Stream' }, B: { Type: 'AWS::Cognito::UserPool' } };
    await expect(startCloud({ assembly: writeAssembly({ resources }) })).rejects.toThrow(/Kinesis[\s\S]*Cognito/);
  });

  test('for a folder that is not an assembly', async () => {
    await expect(startCloud({ assembly: '/nowhere' })).rejects.toThrow('/nowhere is not a cloud assembly');
  });
});

describe('names', () => {
  test('come from the stack, or from the property that holds one', () => {
    const named = functionResource('code', { FunctionName: { 'Fn::Sub': 'fn-of-${Table}' } });
    const { specs } = load({
      resources: { Fn: functionResource('code'), Named: named, Table: tableResource() },
      assets: { code: '' },
    });
    expect(specs.functions.map(({ name, arn }) => [name, arn])).toEqual([
      ['Test-Fn', 'arn:aws:lambda:us-east-1:000000000000:function:Test-Fn'],
      ['fn-of-things', 'arn:aws:lambda:us-east-1:000000000000:function:fn-of-things'],
    ]);
  });

  test('fit the limit of the service and stay different', () => {
    const long = 'L'.repeat(80);
    const { specs } = load({
      resources: { [`${long}A`]: functionResource('code'), [`${long}B`]: functionResource('code') },
      assets: { code: '' },
    });
    const names = specs.functions.map(({ name }) => name);
    expect(names.map((name) => name.length)).toEqual([64, 64]);
    expect(new Set(names).size).toBe(2);
  });

  test('may not go in circles', () => {
    const resources = { Fn: functionResource('code', { FunctionName: { Ref: 'Fn' } }) };
    expect(() => load({ resources })).toThrow('a name refers to itself (stack Test, Fn)');
  });
});

test('an explicit environment gives region and account', () => {
  const { specs } = load({
    resources: { Fn: functionResource('code') },
    assets: { code: '' },
    environment: 'aws://123456789012/eu-central-1',
  });
  expect(specs.functions[0]?.arn).toBe('arn:aws:lambda:eu-central-1:123456789012:function:Test-Fn');
});

test('parameters have defaults, outputs are resolved, a false condition omits a resource', () => {
  const { stacks } = load({
    resources: { Logs: { Type: 'AWS::Logs::LogGroup', Condition: 'Never' }, Table: tableResource() },
    more: {
      Parameters: { Color: { Type: 'String', Default: 'red' }, Sizes: { Type: 'CommaDelimitedList', Default: 'S,M' } },
      Conditions: { Never: { 'Fn::Equals': [{ Ref: 'Color' }, 'blue'] } },
      Outputs: {
        Color: { Value: { 'Fn::Join': ['/', [{ Ref: 'Color' }, { 'Fn::Select': [1, { Ref: 'Sizes' }] }]] } },
        Hidden: { Value: 'x', Condition: 'Never' },
        Arn: { Value: { 'Fn::GetAtt': ['Table', 'Arn'] } },
      },
    },
  });
  expect(stacks[0]?.resources.map(({ logicalId }) => logicalId)).toEqual(['Table']);
  expect(stacks[0]?.outputs).toEqual({
    Color: 'red/M',
    Arn: 'arn:aws:dynamodb:us-east-1:000000000000:table/things',
  });
});

test('a definition gets its substitutions, roles keep their logical ids', () => {
  const { specs } = load({
    resources: {
      Role: { Type: 'AWS::IAM::Role', Properties: { AssumeRolePolicyDocument: {} } },
      Table: tableResource(),
      Machine: {
        Type: 'AWS::StepFunctions::StateMachine',
        Properties: {
          DefinitionString: '{"a":"${Table}","b":"${Other}"}',
          DefinitionSubstitutions: { Table: { Ref: 'Table' } },
          RoleArn: { 'Fn::GetAtt': ['Role', 'Arn'] },
        },
      },
    },
  });
  const roleArn = 'arn:aws:iam::000000000000:role/Test-Role';
  const arn = 'arn:aws:states:us-east-1:000000000000:stateMachine:Test-Machine';
  const definition = '{"a":"things","b":"${Other}"}';
  expect(specs.machines).toEqual([{ logicalId: 'Machine', arn, name: 'Test-Machine', roleArn, definition }]);
  expect(specs.roles.get(roleArn)).toBe('Role');
});
