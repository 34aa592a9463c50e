import { RemovalPolicy } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';

/** Options for logs and stored data. */
export interface StorageProps {
  /** How long log lines are kept. @default one month @example RetentionDays.THREE_MONTHS */
  readonly logRetention?: RetentionDays;
  /**
   * The key that encrypts the table, large results, the signing key, runs of tools, dead letters and logs. Roles get the
   * right to use it there. Needs a stack with a region. The policy of an imported key must admit CloudWatch Logs and
   * EventBridge.
   * @default keys of AWS
   * @example new Key(this, 'Key', { enableKeyRotation: true })
   */
  readonly encryptionKey?: IKey;
}

export function logs(scope: Construct, { logRetention, encryptionKey }: StorageProps = {}, id = 'Logs', name?: string) {
  return new LogGroup(scope, id, {
    ...(name !== undefined && { logGroupName: name }),
    retention: logRetention ?? RetentionDays.ONE_MONTH,
    removalPolicy: RemovalPolicy.DESTROY,
    ...(encryptionKey && { encryptionKey }),
  });
}
