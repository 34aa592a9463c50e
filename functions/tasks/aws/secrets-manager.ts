import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { clientConfig, quiet } from './client.ts';

export const secretsManager = (): SecretsManagerClient =>
  quiet(new SecretsManagerClient(clientConfig({ requestTimeout: 5_000, attempts: 3 })));

export type SecretReader = (SecretId: string, VersionStage: string) => Promise<string | undefined>;

export function secretReader(): SecretReader {
  const client = secretsManager();
  return async (SecretId, VersionStage) =>
    (await client.send(new GetSecretValueCommand({ SecretId, VersionStage }))).SecretString;
}
