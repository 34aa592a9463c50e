import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AwsError } from './aws-error.ts';
import { type JsonObject, stringOf } from './json.ts';
import { generateSecret } from './secret-string.ts';
import type { SecretResource } from './specs.ts';
import type { Operations } from './wire.ts';

interface Version {
  readonly id: string;
  readonly value: string;
  /** Seconds since the epoch. */
  readonly createdAt: number;
}

/** The current version of a secret first, the previous one behind it. */
type Versions = readonly Version[];

const STAGES = ['AWSCURRENT', 'AWSPREVIOUS'];

/** The secrets of the template, kept in `dataDir/secrets.json` or, without a dataDir, in memory. */
export function createSecretsManager(
  secrets: readonly SecretResource[],
  options: { dataDir?: string | undefined; now: () => number },
): Operations {
  const file = options.dataDir === undefined ? undefined : join(options.dataDir, 'secrets.json');
  const stored = new Map<string, Versions>(file && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []);

  const put = (name: string, value: string): Version => {
    const version = { id: randomUUID(), value, createdAt: options.now() / 1000 };
    stored.set(name, [version, ...(stored.get(name) ?? [])].slice(0, STAGES.length));
    if (file) write(file, JSON.stringify([...stored]));
    return version;
  };
  const find = (id: unknown): SecretResource => {
    const secret = secrets.find(({ name, arn }) => id === name || id === arn);
    if (!secret) throw new AwsError('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
    return secret;
  };

  for (const { name, value, generate } of secrets) if (!stored.has(name)) put(name, value ?? generateSecret(generate));

  return {
    GetSecretValue: async (input) => getSecretValue(find(input.SecretId), stored, input),
    PutSecretValue: async (input) => {
      const { name, arn } = find(input.SecretId);
      const { id } = put(name, String(input.SecretString));
      return { ARN: arn, Name: name, VersionId: id, VersionStages: ['AWSCURRENT'] };
    },
  };
}

function getSecretValue({ name, arn }: SecretResource, stored: ReadonlyMap<string, Versions>, input: JsonObject) {
  const versions = stored.get(name) ?? [];
  const stage = stringOf(input.VersionStage) ?? 'AWSCURRENT';
  const index =
    input.VersionId === undefined ? STAGES.indexOf(stage) : versions.findIndex(({ id }) => id === input.VersionId);
  const version = versions[index];
  if (!version) {
    throw new AwsError(
      'ResourceNotFoundException',
      `Secrets Manager can't find the specified secret value for staging label: ${stage}`,
    );
  }
  const { id, value, createdAt } = version;
  const stages = STAGES.slice(index, index + 1);
  return { ARN: arn, Name: name, VersionId: id, SecretString: value, VersionStages: stages, CreatedDate: createdAt };
}

/** By way of a second file, so that a crash leaves the old or the new secrets, and never half of them. */
function write(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
