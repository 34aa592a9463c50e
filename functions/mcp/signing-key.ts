import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import type { Stage } from './signing.ts';

/** Reads the signing key; before its first rotation there is none before it. */
export function signingKey(secrets: SecretsManagerClient, SecretId: string) {
  return async (stage: Stage): Promise<string | undefined> => {
    try {
      const { SecretString } = await secrets.send(new GetSecretValueCommand({ SecretId, VersionStage: stage }));
      return SecretString;
    } catch (error) {
      if (stage === 'AWSPREVIOUS' && error instanceof ResourceNotFoundException) return undefined;
      throw error;
    }
  };
}
