import { signedRequests } from '../../tasks/aws/signed-request.ts';
import { variable } from '../env.ts';
import type { Stage } from './signing.ts';

const ATTEMPTS = 3;
/** Timeout of one attempt, in ms. */
const PATIENCE = 5_000;

/** Reads the signing key from Secrets Manager. Undefined for `AWSPREVIOUS` before the first rotation. */
export function signingKey(secretId: string, env: NodeJS.ProcessEnv) {
  const region = variable(env, 'AWS_REGION');
  const origin =
    env.AWS_ENDPOINT_URL_SECRETS_MANAGER ?? env.AWS_ENDPOINT_URL ?? `https://secretsmanager.${region}.amazonaws.com`;
  const request = signedRequests('secretsmanager', new URL(origin), region, PATIENCE);
  const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': 'secretsmanager.GetSecretValue' };

  const read = async (stage: Stage): Promise<string | undefined> => {
    const body = Buffer.from(JSON.stringify({ SecretId: secretId, VersionStage: stage }));
    const patience = AbortSignal.timeout(PATIENCE);
    const answer = await request({ method: 'POST', path: '/', headers, body }, patience).catch((error: unknown) => {
      // Throws a TimeoutError, which counts as an outage. The error of the request does not say why it was ended.
      patience.throwIfAborted();
      throw error;
    });
    const { SecretString, __type = '' } = JSON.parse(answer.body.toString() || '{}');
    if (answer.status === 200) return SecretString;
    const name = String(__type).replace(/^.*#/, '');
    if (stage === 'AWSPREVIOUS' && name === 'ResourceNotFoundException') return undefined;
    throw Object.assign(new Error('The signing key cannot be read'), {
      name: name || 'SecretsManagerError',
      $metadata: { httpStatusCode: answer.status },
    });
  };

  return async (stage: Stage): Promise<string | undefined> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await read(stage);
      } catch (error) {
        const { $metadata: { httpStatusCode: status = 0 } = {} } = error as { $metadata?: { httpStatusCode?: number } };
        const final = status >= 400 && status < 500 && !/Throttl|TooManyRequests/.test((error as Error).name);
        if (attempt === ATTEMPTS || final) throw error;
        // Waits like the AWS clients: up to 100 ms, then up to 200 ms.
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 100 * attempt));
      }
    }
  };
}
