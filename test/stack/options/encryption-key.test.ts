import { App, Stack } from 'aws-cdk-lib';
import { Key } from 'aws-cdk-lib/aws-kms';
import { describe, expect, test } from 'vitest';
import { Auth, McpTaskServer } from '../../../lib/index.ts';
import { propertiesOf, synth } from './synth.ts';

describe('encryptionKey', () => {
  const template = synth((stack) => ({ encryptionKey: new Key(stack, 'K'), accessLogs: true }));
  const key = { 'Fn::GetAtt': [expect.stringMatching(/^K/), 'Arn'] };

  test('encrypts the table, results, the signing key, dead letters, runs and all logs', () => {
    const encrypted = (type: string) => JSON.stringify(propertiesOf(template, type));
    for (const type of ['DynamoDB::GlobalTable', 'S3::Bucket', 'SQS::Queue', 'SecretsManager::Secret']) {
      expect([type, encrypted(`AWS::${type}`)]).toEqual([
        type,
        expect.stringMatching(/"(KMSMasterKeyI[Dd]|KmsMasterKeyId|KmsKeyId)":\{"Fn::GetAtt":\["K/),
      ]);
    }
    for (const { EncryptionConfiguration } of propertiesOf(template, 'AWS::StepFunctions::StateMachine')) {
      expect(EncryptionConfiguration).toMatchObject({ Type: 'CUSTOMER_MANAGED_KMS_KEY', KmsKeyId: key });
    }
    const groups = propertiesOf(template, 'AWS::Logs::LogGroup');
    expect(groups).toHaveLength(10);
    for (const { KmsKeyId } of groups) expect(KmsKeyId).toEqual(key);
  });

  test('its runs and their logs may use it', () => {
    const said = JSON.stringify(propertiesOf(template, 'AWS::IAM::Policy'));
    for (const name of ['aws:states:stateMachineArn', 'SourceArn'])
      expect(said).toContain(`kms:EncryptionContext:${name}`);
    const [{ KeyPolicy } = {}] = propertiesOf(template, 'AWS::KMS::Key');
    expect(JSON.stringify(KeyPolicy)).toContain('delivery.logs.amazonaws.com');
  });
});

test('an encryptionKey in a stack of no region is refused at synth: CDK needs it for the table', () => {
  const stack = new Stack(new App(), 'S');
  const auth = Auth.anonymous();
  const make = () => new McpTaskServer(stack, 'Server', { auth, encryptionKey: new Key(stack, 'K') });
  expect(make).toThrow(/encryptionKey: give the stack its region/);
});
