import { type AwsJson, awsJson } from './aws-json.ts';

/** Secrets Manager. `region`: @default AWS_REGION */
export function secretsManager(env: NodeJS.ProcessEnv, region = env.AWS_REGION ?? ''): AwsJson {
  const endpoint = env.AWS_ENDPOINT_URL_SECRETS_MANAGER ?? env.AWS_ENDPOINT_URL;
  return awsJson({
    ...{ service: 'secretsmanager', target: 'secretsmanager', version: '1.1', endpoint, region },
    ...{ requestTimeout: 5_000, attempts: 3 },
  });
}
