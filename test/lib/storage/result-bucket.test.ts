import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { Auth, McpTaskServer, type McpTaskServerProps } from '../../../lib/index.ts';
import { inlineFunction } from '../../support/inline-function.ts';

function templateOf(props: Partial<McpTaskServerProps> = {}): Template {
  const stack = new Stack(new App(), 'S');
  const handler = inlineFunction(stack);
  const server = new McpTaskServer(stack, 'Server', { auth: Auth.anonymous(), ...props });
  server.addTool('tool', { handler, description: 'd', inputSchema: { type: 'object' }, taskSupport: 'optional' });
  return Template.fromStack(stack);
}

describe('the bucket of large results', () => {
  test('is private, encrypted, unversioned, for TLS only, and kept by default', () => {
    const template = templateOf();
    template.hasResource('AWS::S3::Bucket', {
      DeletionPolicy: 'Retain',
      Properties: {
        BucketEncryption: {
          ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
        },
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
        VersioningConfiguration: Match.absent(),
      },
    });
    template.hasResourceProperties('AWS::S3::BucketPolicy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
        ]),
      },
    });
  });

  test.each([
    [undefined, 2],
    [Duration.hours(1), 2],
    [Duration.hours(25), 3],
    [Duration.days(7), 8],
  ])('drops objects older than the longest task: maxTtl %s', (maxTtl, days) => {
    templateOf(maxTtl && { maxTtl }).hasResourceProperties('AWS::S3::Bucket', {
      LifecycleConfiguration: {
        Rules: ['results/', 'outcomes/', 'inputs/', 'steps/', 'files/'].map((Prefix) => ({
          Id: Match.anyValue(),
          Status: 'Enabled',
          Prefix,
          ExpirationInDays: days,
          AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
        })),
      },
    });
  });

  test('goes with the stack if that is asked for, without a custom resource to empty it', () => {
    const template = templateOf({ removalPolicy: RemovalPolicy.DESTROY });
    template.hasResource('AWS::S3::Bucket', { DeletionPolicy: 'Delete' });
    expect(Object.keys(template.findResources('AWS::Lambda::Function'))).toHaveLength(6);
    expect(JSON.stringify(template.toJSON())).not.toContain('Custom::');
  });
});
