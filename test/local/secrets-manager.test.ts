import { statSync } from 'node:fs';
import { join } from 'node:path';
import { GetSecretValueCommand, PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { expect, test } from 'vitest';
import { type Cloud, startCloud } from '../../local/cloud.ts';
import { generateSecret } from '../../local/secret-string.ts';
import { clientConfig, temporaryDir, writeAssembly } from './fixture.ts';

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
