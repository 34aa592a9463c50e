import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { BlockPublicAccess, Bucket, BucketEncryption } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import type { OperationProps } from '../server-props.ts';

const DAY = 86_400_000;

/**
 * Results and input too large for a task's record (docs/architecture.md, "The task record"). They expire with their
 * tasks, of which the longest can be read for `maxTtl` ms. CloudFormation does not delete a bucket that holds anything:
 * with DESTROY, empty it first.
 */
export function resultBucket(scope: Construct, maxTtl: number, props: OperationProps): Bucket {
  const { removalPolicy = RemovalPolicy.RETAIN, encryptionKey } = props;
  // Days are counted from the write, which may be the last thing a task does.
  const expiration = Duration.days(Math.ceil(maxTtl / DAY) + 1);
  const expires = { expiration, abortIncompleteMultipartUploadAfter: Duration.days(1) };
  return new Bucket(scope, 'Results', {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    encryption: encryptionKey ? BucketEncryption.KMS : BucketEncryption.S3_MANAGED,
    // One data key for many objects, in place of a call to KMS for each.
    ...(encryptionKey && { encryptionKey, bucketKeyEnabled: true }),
    enforceSSL: true,
    minimumTLSVersion: 1.2,
    removalPolicy,
    lifecycleRules: [
      { id: 'ExpireWithTheirTasks', prefix: 'results/', ...expires },
      { id: 'InputExpiresWithItsTask', prefix: 'inputs/', ...expires },
    ],
  });
}
