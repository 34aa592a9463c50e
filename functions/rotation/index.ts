import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { SecretsManagerRotationEvent } from 'aws-lambda';
import { logEvent } from '../tasks/log.ts';
import { rotate } from './rotate.ts';

const secrets = new SecretsManagerClient({
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
});

/** Secrets Manager calls this once for each step of a rotation. */
export async function handler(event: SecretsManagerRotationEvent): Promise<void> {
  if ((await rotate(event, secrets)) === 'done') logEvent('signing_key_rotated', {}, 'log');
}
