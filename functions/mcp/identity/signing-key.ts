import { secretsManager } from '../../tasks/aws/secrets-manager.ts';
import { variable } from '../env.ts';
import type { Stage } from './signing.ts';

/** Reads the signing key from Secrets Manager. Undefined for `AWSPREVIOUS` before the first rotation. */
export function signingKey(secretId: string, env: NodeJS.ProcessEnv) {
  const secrets = secretsManager(env, variable(env, 'AWS_REGION'));
  return async (stage: Stage): Promise<string | undefined> => {
    try {
      const { SecretString } = await secrets('GetSecretValue', { SecretId: secretId, VersionStage: stage });
      return SecretString as string | undefined;
    } catch (error) {
      if (stage === 'AWSPREVIOUS' && (error as Error).name === 'ResourceNotFoundException') return undefined;
      throw error;
    }
  };
}
