import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  RotateSecretCommand,
  SecretsManagerClient,
  UpdateSecretVersionStageCommand,
} from '@aws-sdk/client-secrets-manager';
import { describe, expect, test } from 'vitest';
import { type Cloud, startCloud } from '../cloud.ts';
import { generateSecret } from '../secrets-manager/secret-string.ts';
import { adminRole, clientConfig, functionResource, temporaryDir, writeAssembly } from './fixture.ts';

const assembly = writeAssembly({
  resources: {
    Key: {
      Type: 'AWS::SecretsManager::Secret',
      Properties: { GenerateSecretString: { PasswordLength: 64, ExcludePunctuation: true } },
    },
    Given: { Type: 'AWS::SecretsManager::Secret', Properties: { Name: 'given', SecretString: 'as it is' } },
  },
  more: { Outputs: { Arn: { Value: { Ref: 'Key' } } } },
});

const clientOf = (cloud: Cloud) => new SecretsManagerClient(clientConfig(cloud));
const read = (cloud: Cloud, SecretId: string, VersionStage?: string) =>
  clientOf(cloud).send(new GetSecretValueCommand({ SecretId, ...(VersionStage ? { VersionStage } : {}) }));

test('secrets are generated once and read by name or ARN', async () => {
  const dataDir = temporaryDir();
  const first = await startCloud({ assembly, dataDir });
  const byName = await read(first, 'Test-Key');
  expect(byName.SecretString).toMatch(/^[A-Za-z0-9]{64}$/);
  expect(byName).toMatchObject({ ARN: first.outputs.Arn, Name: 'Test-Key', VersionStages: ['AWSCURRENT'] });
  expect(byName.CreatedDate).toBeInstanceOf(Date);
  expect((await read(first, String(first.outputs.Arn))).SecretString).toBe(byName.SecretString);
  expect((await read(first, 'given')).SecretString).toBe('as it is');
  await first.stop();

  const second = await startCloud({ assembly, dataDir });
  expect((await read(second, 'Test-Key')).SecretString).toBe(byName.SecretString);
  await second.stop();
  expect(statSync(join(dataDir, 'secrets.json')).mode & 0o777).toBe(0o600);
});

test('a new value leaves the old one as AWSPREVIOUS', async () => {
  const cloud = await startCloud({ assembly });
  await expect(read(cloud, 'given', 'AWSPREVIOUS')).rejects.toThrow('staging label: AWSPREVIOUS');
  await clientOf(cloud).send(new PutSecretValueCommand({ SecretId: 'given', SecretString: 'new' }));
  expect((await read(cloud, 'given')).SecretString).toBe('new');
  expect((await read(cloud, 'given', 'AWSPREVIOUS')).SecretString).toBe('as it is');
  await cloud.stop();
});

test('an unknown secret is not found', async () => {
  const cloud = await startCloud({ assembly });
  await expect(read(cloud, 'other')).rejects.toThrow(expect.objectContaining({ name: 'ResourceNotFoundException' }));
  await cloud.stop();
});

test('GenerateSecretString is honoured', () => {
  expect(generateSecret({})).toMatch(/^[!-~]{32}$/);
  for (const kind of [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/])
    expect(generateSecret({ PasswordLength: 4 })).toMatch(kind);
  const only = {
    ExcludeLowercase: true,
    ExcludeUppercase: true,
    ExcludePunctuation: true,
    ExcludeCharacters: '01234567',
  };
  expect(generateSecret(only)).toMatch(/^[89]{32}$/);
  const json = generateSecret({ SecretStringTemplate: '{"user":"ada"}', GenerateStringKey: 'password' });
  expect(JSON.parse(json)).toEqual({ user: 'ada', password: expect.stringMatching(/^.{32}$/) });
  expect(() => generateSecret({ Unknown: 1 })).toThrow('GenerateSecretString.Unknown');
  expect(() => generateSecret({ PasswordLength: 2 })).toThrow('too few characters');
});

const DAY = 24 * 3_600_000;

/** A function that rotates by the contract, and prints its steps. At first it fails twice. */
const ROTATOR = `
  import { createRequire } from 'node:module';
  const { DescribeSecretCommand, PutSecretValueCommand, SecretsManagerClient, UpdateSecretVersionStageCommand } =
    createRequire(${JSON.stringify(import.meta.url)})('@aws-sdk/client-secrets-manager');
  let failures = 2;
  export async function handler({ Step, SecretId, ClientRequestToken }) {
    console.log(Step);
    const secrets = new SecretsManagerClient({});
    const { VersionIdsToStages: stages } = await secrets.send(new DescribeSecretCommand({ SecretId }));
    if (Step === 'createSecret') await secrets.send(new PutSecretValueCommand({ SecretId, ClientRequestToken, SecretString: 'rotated ' + ClientRequestToken, VersionStages: ['AWSPENDING'] }));
    if (Step === 'testSecret' && failures-- > 0) throw new Error('not yet');
    if (Step !== 'finishSecret') return;
    const [RemoveFromVersionId] = Object.entries(stages).find(([, labels]) => labels.includes('AWSCURRENT'));
    await secrets.send(new UpdateSecretVersionStageCommand({ SecretId, VersionStage: 'AWSCURRENT', MoveToVersionId: ClientRequestToken, RemoveFromVersionId }));
  }`;

describe('rotation', () => {
  const rotating = (more: object = {}, permission: object = {}) =>
    writeAssembly({
      resources: {
        Key: { Type: 'AWS::SecretsManager::Secret', Properties: { SecretString: 'first' } },
        Fixed: { Type: 'AWS::SecretsManager::Secret', Properties: { SecretString: 'fixed' } },
        Role: adminRole('lambda'),
        Rotator: functionResource('rotator', { Role: { 'Fn::GetAtt': ['Role', 'Arn'] } }),
        May: {
          Type: 'AWS::Lambda::Permission',
          Properties: {
            Action: 'lambda:InvokeFunction',
            FunctionName: { Ref: 'Rotator' },
            Principal: 'secretsmanager.amazonaws.com',
            SourceAccount: { Ref: 'AWS::AccountId' },
            ...permission,
          },
        },
        Schedule: {
          Type: 'AWS::SecretsManager::RotationSchedule',
          Properties: {
            SecretId: { Ref: 'Key' },
            RotationLambdaARN: { 'Fn::GetAtt': ['Rotator', 'Arn'] },
            RotationRules: { ScheduleExpression: 'rate(30 days)' },
            RotateImmediatelyOnUpdate: false,
            ...more,
          },
        },
      },
      assets: { rotator: ROTATOR },
    });
  const until = async (cloud: Cloud, text: RegExp) => {
    for (;;) {
      const { SecretString = '' } = await read(cloud, 'Test-Key');
      if (text.test(SecretString)) return SecretString;
      await sleep(10);
    }
  };
  const STEPS = ['createSecret', 'setSecret', 'testSecret', 'finishSecret'];

  test('calls the function for four steps, repeats all when one fails, then allows another', async () => {
    const steps: string[] = [];
    const onLog = (source: string, line: string) => void (source === 'Test-Rotator' && steps.push(line));
    const cloud = await startCloud({ assembly: rotating(), onLog, schedules: false });
    const client = clientOf(cloud);
    const { VersionId } = await client.send(new RotateSecretCommand({ SecretId: 'Test-Key' }));
    const described = await client.send(new DescribeSecretCommand({ SecretId: 'Test-Key' }));
    expect(described).toMatchObject({
      RotationEnabled: true,
      RotationLambdaARN: expect.stringMatching(/Test-Rotator$/),
    });
    expect(described.VersionIdsToStages?.[String(VersionId)]).toEqual(['AWSPENDING']);
    await expect(client.send(new RotateSecretCommand({ SecretId: 'Test-Key' }))).rejects.toThrow(/previous rotation/);
    await until(cloud, new RegExp(`^rotated ${VersionId}$`));
    const failed = STEPS.slice(0, 3);
    await expect.poll(() => steps.filter((step) => STEPS.includes(step))).toEqual([...failed, ...failed, ...STEPS]);
    expect((await read(cloud, 'Test-Key', 'AWSPREVIOUS')).SecretString).toBe('first');
    await client.send(new RotateSecretCommand({ SecretId: 'Test-Key' }));
    await cloud.stop();
  });

  test('comes by the clock, counted from the current version', async () => {
    const options = { movableClock: true, timeScale: 600 };
    const cloud = await startCloud({ assembly: rotating(), ...options });
    cloud.clock.advance((29 * DAY) / 600);
    await sleep(300);
    expect((await read(cloud, 'Test-Key')).SecretString).toBe('first');
    cloud.clock.advance(DAY / 600);
    const first = await until(cloud, /^rotated/);
    cloud.clock.advance((30 * DAY) / 600);
    await until(cloud, new RegExp(`^rotated (?!${first.slice('rotated '.length)})`));
    expect((await read(cloud, 'Test-Key', 'AWSPREVIOUS')).SecretString).toBe(first);
    expect((await read(cloud, 'Test-Fixed')).SecretString).toBe('fixed');
    await cloud.stop();
  });

  test.each<[string, object, object, RegExp]>([
    ['that Secrets Manager may not invoke', {}, { Principal: 'events.amazonaws.com' }, /may not lambda:InvokeFunction/],
    ['by a schedule that is not known', { RotationRules: { ScheduleExpression: 'cron(0 8 1 * ? *)' } }, {}, /cron/],
    ['at once', { RotateImmediatelyOnUpdate: true }, {}, /RotateImmediatelyOnUpdate true/],
  ])('%s is refused at start', async (_title, more, permission, message) => {
    await expect(startCloud({ assembly: rotating(more, permission) })).rejects.toThrow(message);
  });

  test('a policy of a secret may only deny its deletion; others are refused at start', async () => {
    const policy = (Action: string) => ({
      Type: 'AWS::SecretsManager::ResourcePolicy',
      Properties: {
        SecretId: { Ref: 'Key' },
        ResourcePolicy: { Statement: [{ Effect: 'Deny', Action, Principal: '*', Resource: '*' }] },
      },
    });
    const Key = { Type: 'AWS::SecretsManager::Secret', Properties: { SecretString: 'first' } };
    const start = (action: string) =>
      startCloud({ assembly: writeAssembly({ resources: { Key, Policy: policy(action) } }) });
    await (await start('secretsmanager:DeleteSecret')).stop();
    await expect(start('secretsmanager:GetSecretValue')).rejects.toThrow('ResourcePolicy.Statement[]');
  });

  test('a secret without it is not rotated, and a version keeps its value', async () => {
    const cloud = await startCloud({ assembly: rotating(), schedules: false });
    const client = clientOf(cloud);
    const SecretId = 'Test-Fixed';
    await expect(client.send(new RotateSecretCommand({ SecretId }))).rejects.toThrow(/No Lambda function/);
    const put = { SecretId, ClientRequestToken: 'x'.repeat(32), VersionStages: ['AWSPENDING'] };
    for (const SecretString of ['one', 'one']) await client.send(new PutSecretValueCommand({ ...put, SecretString }));
    await expect(client.send(new PutSecretValueCommand({ ...put, SecretString: 'two' }))).rejects.toThrow(
      expect.objectContaining({ name: 'ResourceExistsException' }),
    );
    expect((await read(cloud, SecretId)).SecretString).toBe('fixed');
    const move = { SecretId, VersionStage: 'AWSCURRENT', MoveToVersionId: put.ClientRequestToken };
    await expect(client.send(new UpdateSecretVersionStageCommand(move))).rejects.toThrow(/attached to version/);
    await cloud.stop();
  });
});
