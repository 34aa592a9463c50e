import { randomBytes } from 'node:crypto';
import {
  DescribeSecretCommand,
  PutSecretValueCommand,
  type SecretsManagerClient,
  UpdateSecretVersionStageCommand,
} from '@aws-sdk/client-secrets-manager';
import type { SecretsManagerRotationEvent } from 'aws-lambda';

type Secrets = Pick<SecretsManagerClient, 'send'>;

/**
 * Runs one step of the rotation of the signing key; returns `done` after the last. Secrets Manager repeats all steps after
 * a failure, so a step may find its work done. The current key stays as AWSPREVIOUS. No step reads a key, which only the
 * endpoint needs: so `setSecret` and `testSecret` do nothing.
 */
export async function rotate(
  { Step, SecretId, ClientRequestToken: version }: SecretsManagerRotationEvent,
  secrets: Secrets,
): Promise<'done' | undefined> {
  if (Step !== 'createSecret' && Step !== 'finishSecret') return undefined;
  const { VersionIdsToStages = {} } = await secrets.send(new DescribeSecretCommand({ SecretId }));
  const stages = VersionIdsToStages[version] ?? [];
  if (stages.includes('AWSCURRENT')) return undefined;
  if (!stages.includes('AWSPENDING')) throw new Error('This version is not the one to rotate to');
  if (Step === 'createSecret') {
    await create(SecretId, version, secrets);
    return undefined;
  }
  const [current] = Object.entries(VersionIdsToStages).find(([, labels]) => labels.includes('AWSCURRENT')) ?? [];
  const move = { VersionStage: 'AWSCURRENT', MoveToVersionId: version, RemoveFromVersionId: current };
  await secrets.send(new UpdateSecretVersionStageCommand({ SecretId, ...move }));
  return 'done';
}

/** Makes the key of a version. A version that already has one keeps it. */
async function create(SecretId: string, version: string, secrets: Secrets): Promise<void> {
  const SecretString = randomBytes(48).toString('base64url');
  const put = { SecretId, SecretString, ClientRequestToken: version, VersionStages: ['AWSPENDING'] };
  await secrets.send(new PutSecretValueCommand(put)).catch((error: Error) => {
    if (error.name !== 'ResourceExistsException') throw error;
  });
}
