import type { SecretsManagerRotationEvent } from 'aws-lambda';
import { secretsManager } from '../tasks/aws/secrets-manager.ts';
import { logEvent } from '../tasks/log.ts';
import { rotate } from './rotate.ts';

const secrets = secretsManager();

/** Secrets Manager calls this once for each step of a rotation. */
export async function handler(event: SecretsManagerRotationEvent): Promise<void> {
  if ((await rotate(event, secrets)) === 'done') logEvent('signing_key_rotated', {}, 'log');
}
