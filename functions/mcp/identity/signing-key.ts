import type { SecretReader } from '../../tasks/aws/secrets-manager.ts';
import type { Stage } from './signing.ts';

/** Reads the signing key from Secrets Manager. Undefined for `AWSPREVIOUS` before the first rotation. */
export function signingKey(secretId: string) {
  let read: SecretReader | undefined;
  return async (stage: Stage): Promise<string | undefined> => {
    read ??= (await import('#mcp-task-server/secrets-manager')).secretReader();
    try {
      return await read(secretId, stage);
    } catch (error) {
      if (stage === 'AWSPREVIOUS' && (error as Error).name === 'ResourceNotFoundException') return undefined;
      throw error;
    }
  };
}
