import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { BlockPublicAccess, Bucket, BucketEncryption, type IBucket } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { DAY } from '../../functions/tasks/limits.ts';
import type { OperationProps } from '../server-props.ts';

/**
 * Makes the bucket for results, input and steps that are too large for the table, and for files (docs/architecture/tasks.md, "The
 * task record", "The journal" and "Files"). They expire with their tasks, which can be read for at most `maxTtl` ms. CloudFormation deletes
 * only an empty bucket: with DESTROY, empty it first.
 */
export function resultBucket(scope: Construct, maxTtl: number, props: OperationProps): IBucket {
  const { removalPolicy = RemovalPolicy.RETAIN, encryptionKey } = props;
  // S3 counts days from the write, which may be at the end of the task.
  const expiration = Duration.days(Math.ceil(maxTtl / DAY) + 1);
  const expires = { expiration, abortIncompleteMultipartUploadAfter: Duration.days(1) };
  return new Bucket(scope, 'Results', {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    encryption: encryptionKey ? BucketEncryption.KMS : BucketEncryption.S3_MANAGED,
    // With this, many objects share one data key, instead of one call of KMS for each.
    ...(encryptionKey && { encryptionKey, bucketKeyEnabled: true }),
    enforceSSL: true,
    minimumTLSVersion: 1.2,
    removalPolicy,
    lifecycleRules: [
      { id: 'ExpireWithTheirTasks', prefix: 'results/', ...expires },
      { id: 'OutcomesExpireWithTheirTasks', prefix: 'outcomes/', ...expires },
      { id: 'InputExpiresWithItsTask', prefix: 'inputs/', ...expires },
      { id: 'StepsExpireWithTheirTasks', prefix: 'steps/', ...expires },
      { id: 'FilesExpireWithTheirTasks', prefix: 'files/', ...expires },
    ],
    // With exactOptionalPropertyTypes, CDK's classes do not fit their interfaces.
  }) as IBucket;
}
