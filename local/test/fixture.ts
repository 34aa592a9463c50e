import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Cloud } from '../cloud.ts';
import { SERVER_MARK } from '../marks.ts';

export function temporaryDir(): string {
  return mkdtempSync(join(tmpdir(), 'mcp-task-server-test-'));
}

export interface HandMade {
  readonly resources: Record<string, unknown>;
  readonly environment?: string;
  /** Source text of `index.mjs` by asset name; the S3 key is `<name>.zip`. */
  readonly assets?: Record<string, string>;
  readonly more?: object;
}

/** Writes a cloud assembly by hand, for tests that need no CDK app. */
export function writeAssembly({ resources, environment, assets = {}, more = {} }: HandMade): string {
  const dir = temporaryDir();
  const write = (path: string, value: unknown) => writeFileSync(join(dir, path), JSON.stringify(value));
  const stack = {
    type: 'aws:cloudformation:stack',
    environment: environment ?? 'aws://unknown-account/unknown-region',
    properties: { templateFile: 'Test.template.json' },
    dependencies: ['Test.assets'],
  };
  const manifest = { type: 'cdk:asset-manifest', properties: { file: 'Test.assets.json' } };
  write('manifest.json', { artifacts: { 'Test.assets': manifest, Test: stack } });
  write('Test.template.json', { Resources: resources, ...more });
  const files = Object.keys(assets).map((name) => {
    const source = { path: `asset.${name}`, packaging: 'zip' };
    return [name, { source, destinations: { here: { objectKey: `${name}.zip` } } }];
  });
  write('Test.assets.json', { files: Object.fromEntries(files) });
  for (const [name, code] of Object.entries(assets)) {
    mkdirSync(join(dir, `asset.${name}`));
    writeFileSync(join(dir, `asset.${name}`, 'index.mjs'), code);
  }
  return dir;
}

/** A function resource with the asset of this name. */
export function functionResource(asset: string, more: object = {}): object {
  return {
    Type: 'AWS::Lambda::Function',
    Properties: {
      Code: { S3Key: `${asset}.zip` },
      Handler: 'index.handler',
      Runtime: 'nodejs24.x',
      Timeout: 10,
      ...more,
    },
  };
}

/**
 * The endpoint of a server, which the embedded cloud recognizes: a function with the asset `code` and the role
 * `ServerRole`.
 *
 * @param tools the logical ids of their functions or state machines, by name
 */
export function serverResources(tools: Record<string, { handler: string } | { stateMachine: string }> = {}) {
  const needed = Object.values(tools)
    .flatMap(Object.values)
    .map((Ref: string) => ({ Ref }));
  const endpoint = functionResource('code', {
    Role: { 'Fn::GetAtt': ['ServerRole', 'Arn'] },
    Environment: { Variables: { TOOLS: { 'Fn::Join': [',', needed] } } },
  });
  return {
    Endpoint: { ...endpoint, Metadata: { ...ofServer('Endpoint').Metadata, [SERVER_MARK]: { tools } } },
    ServerRole: { ...adminRole('lambda'), ...ofServer('EndpointRole') },
  };
}

/** The metadata of a resource of that server. */
export const ofServer = (id: string) => ({ Metadata: { 'aws:cdk:path': `App/Server/${id}/Resource` } });

/** A table like the tasks table: two keys, time to live, a sparse index with keys only. */
export function tableResource(more: object = {}): object {
  return {
    Type: 'AWS::DynamoDB::GlobalTable',
    Properties: {
      TableName: 'things',
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [
        { AttributeName: 'owner', KeyType: 'HASH' },
        { AttributeName: 'id', KeyType: 'RANGE' },
      ],
      AttributeDefinitions: [
        { AttributeName: 'owner', AttributeType: 'S' },
        { AttributeName: 'id', AttributeType: 'S' },
        { AttributeName: 'due', AttributeType: 'S' },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'due',
          KeySchema: [{ AttributeName: 'due', KeyType: 'HASH' }],
          Projection: { ProjectionType: 'KEYS_ONLY' },
        },
      ],
      TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
      Replicas: [{ Region: { Ref: 'AWS::Region' }, DeletionProtectionEnabled: true }],
      ...more,
    },
  };
}

/** A role that a service may assume, with all rights, for tests that do not check rights. */
export function adminRole(service: string): object {
  const trust = { Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service: `${service}.amazonaws.com` } };
  const everything = { Statement: { Effect: 'Allow', Action: '*', Resource: '*' } };
  const Policies = [{ PolicyName: 'Everything', PolicyDocument: everything }];
  return { Type: 'AWS::IAM::Role', Properties: { AssumeRolePolicyDocument: { Statement: trust }, Policies } };
}

/** Options with which an AWS client reaches the cloud as `caller`. */
export function clientConfig({ endpoint, region }: Pick<Cloud, 'endpoint' | 'region'>, caller = 'test') {
  return { endpoint, region, credentials: { accessKeyId: caller, secretAccessKey: 'local' } };
}

export function dynamoDbClient(cloud: Cloud): DynamoDBClient {
  return new DynamoDBClient(clientConfig(cloud));
}

/** Calls operations of a DynamoDB that verifies no signatures. */
export function dynamoDbAt(
  endpoint: string,
): (service: string, operation: string, input: object, accessKey: string) => Promise<{ status: number; body: string }> {
  return async (_service, operation, input, accessKey) => {
    const credential = `Credential=${accessKey}/20260101/us-east-1/dynamodb/aws4_request`;
    const headers = {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDB_20120810.${operation}`,
      'x-amz-date': '20260101T000000Z',
      authorization: `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=host, Signature=0`,
    };
    const answer = await fetch(endpoint, { method: 'POST', headers, body: JSON.stringify(input) });
    return { status: answer.status, body: await answer.text() };
  };
}
