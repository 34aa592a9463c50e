import { awsJson } from '../../tasks/aws/aws-json.ts';
import { variable } from '../env.ts';
import type { Stage } from './signing.ts';

/** Reads the signing key from Secrets Manager. Undefined for `AWSPREVIOUS` before the first rotation. */
export function signingKey(secretId: string, env: NodeJS.ProcessEnv) {
  const secretsManager = awsJson({
    ...{ service: 'secretsmanager', target: 'secretsmanager', version: '1.1' },
    endpoint: env.AWS_ENDPOINT_URL_SECRETS_MANAGER ?? env.AWS_ENDPOINT_URL,
    region: variable(env, 'AWS_REGION'),
    requestTimeout: 5_000,
    attempts: 3,
  });
  return async (stage: Stage): Promise<string | undefined> => {
    try {
      const { SecretString } = await secretsManager('GetSecretValue', { SecretId: secretId, VersionStage: stage });
      return SecretString as string | undefined;
    } catch (error) {
      if (stage === 'AWSPREVIOUS' && (error as Error).name === 'ResourceNotFoundException') return undefined;
      throw error;
    }
  };
}
