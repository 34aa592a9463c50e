import { randomUUID } from 'node:crypto';
import { AwsError } from '../aws-error.ts';
import { type JsonObject, listOf, stringOf } from '../json.ts';
import type { SecretResource } from '../template/specs.ts';
import type { Operations } from '../wire/types.ts';
import { createRotation, type RotationOptions } from './rotation.ts';
import { generateSecret } from './secret-string.ts';
import { openVersions, type Version, type Versions } from './versions.ts';

interface SecretsManagerOptions extends RotationOptions {
  /** @default in memory */
  readonly dataDir: string | undefined;
}

/** The secrets of the template, kept in `dataDir/secrets.json` or, without a dataDir, in memory. */
export function createSecretsManager(secrets: readonly SecretResource[], options: SecretsManagerOptions) {
  const versions = openVersions(options.dataDir, options.now);
  const rotation = createRotation(versions, options);
  const find = (id: unknown): SecretResource => {
    const secret = secrets.find(({ name, arn }) => id === name || id === arn);
    if (!secret) throw new AwsError('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
    return secret;
  };
  for (const { name, value, generate } of secrets) {
    if (versions.of(name).length === 0) versions.put(name, randomUUID(), value ?? generateSecret(generate));
  }

  const operations: Operations = {
    GetSecretValue: async (input) => getSecretValue(find(input.SecretId), versions, input),
    PutSecretValue: async (input) => {
      const { name, arn } = find(input.SecretId);
      const id = stringOf(input.ClientRequestToken) ?? randomUUID();
      const stages = input.VersionStages === undefined ? undefined : listOf(input.VersionStages).map(String);
      const { stages: VersionStages } = versions.put(name, id, String(input.SecretString), stages);
      return { ARN: arn, Name: name, VersionId: id, VersionStages };
    },
    DescribeSecret: async (input) => describeSecret(find(input.SecretId), versions),
    UpdateSecretVersionStage: async (input) => {
      const { name, arn } = find(input.SecretId);
      const [from, to] = [stringOf(input.RemoveFromVersionId), stringOf(input.MoveToVersionId)];
      versions.move(name, String(input.VersionStage), from, to);
      return { ARN: arn, Name: name };
    },
    RotateSecret: async (input) => {
      const secret = find(input.SecretId);
      const id = rotation.begin(secret, stringOf(input.ClientRequestToken));
      return { ARN: secret.arn, Name: secret.name, VersionId: id };
    },
  };
  const rotateDue = () => secrets.forEach(rotation.beginIfDue);
  return { operations, rotateDue };
}

function getSecretValue({ name, arn }: SecretResource, versions: Versions, input: JsonObject) {
  const stage = stringOf(input.VersionStage) ?? (input.VersionId === undefined ? 'AWSCURRENT' : undefined);
  const version = versions
    .of(name)
    .find(
      ({ id, stages }) =>
        (input.VersionId === undefined || id === input.VersionId) && (stage === undefined || stages.includes(stage)),
    );
  if (version?.value === undefined) {
    throw new AwsError(
      'ResourceNotFoundException',
      `Secrets Manager can't find the specified secret value for staging label: ${stage}`,
    );
  }
  const { id, value, stages, createdAt } = version;
  return { ARN: arn, Name: name, VersionId: id, SecretString: value, VersionStages: stages, CreatedDate: createdAt };
}

function describeSecret({ name, arn, rotation }: SecretResource, versions: Versions) {
  const stages = versions.of(name).map(({ id, stages }: Version) => [id, stages] as const);
  return {
    ARN: arn,
    Name: name,
    VersionIdsToStages: Object.fromEntries(stages),
    ...(rotation && { RotationEnabled: true, RotationLambdaARN: rotation.functionArn }),
  };
}
