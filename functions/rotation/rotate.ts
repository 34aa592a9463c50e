import { randomBytes } from 'node:crypto';
import type { SecretsManagerRotationEvent } from 'aws-lambda';
import type { AwsJson } from '../tasks/aws/aws-json.ts';

/**
 * One step of the rotation of the signing key; `done` when it was the last. Secrets Manager repeats all steps after a
 * failure, so each may find its work done. The current key stays as AWSPREVIOUS. No step reads a key, as only the
 * endpoint needs it: so `setSecret` and `testSecret` do nothing.
 */
export async function rotate(
  { Step, SecretId, ClientRequestToken: version }: SecretsManagerRotationEvent,
  secrets: AwsJson,
): Promise<'done' | undefined> {
  if (Step !== 'createSecret' && Step !== 'finishSecret') return undefined;
  const { VersionIdsToStages = {} } = (await secrets('DescribeSecret', { SecretId })) as Described;
  const stages = VersionIdsToStages[version] ?? [];
  if (stages.includes('AWSCURRENT')) return undefined;
  if (!stages.includes('AWSPENDING')) throw new Error('This version is not the one to rotate to');
  if (Step === 'createSecret') {
    await create(SecretId, version, secrets);
    return undefined;
  }
  const [current] = Object.entries(VersionIdsToStages).find(([, labels]) => labels.includes('AWSCURRENT')) ?? [];
  const move = { VersionStage: 'AWSCURRENT', MoveToVersionId: version, RemoveFromVersionId: current };
  await secrets('UpdateSecretVersionStage', { SecretId, ...move });
  return 'done';
}

/** The labels of each version. */
interface Described {
  readonly VersionIdsToStages?: Readonly<Record<string, readonly string[]>>;
}

/** The version may have its key already: then it keeps it. */
async function create(SecretId: string, version: string, secrets: AwsJson): Promise<void> {
  const SecretString = randomBytes(48).toString('base64url');
  const put = { SecretId, SecretString, ClientRequestToken: version, VersionStages: ['AWSPENDING'] };
  await secrets('PutSecretValue', put).catch((error: Error) => {
    if (error.name !== 'ResourceExistsException') throw error;
  });
}
