import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { BlockPublicAccess, Bucket, BucketEncryption } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';

const DAY = 86_400_000;

/**
 * Results too large for a task's record (design section 8). They expire with their tasks, of which the longest can be
 * read for `maxTtl` ms. CloudFormation does not delete a bucket that holds anything: with DESTROY, empty it first.
 */
export function resultBucket(scope: Construct, maxTtl: number, removalPolicy = RemovalPolicy.RETAIN): Bucket {
  return new Bucket(scope, 'Results', {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    encryption: BucketEncryption.S3_MANAGED,
    enforceSSL: true,
    minimumTLSVersion: 1.2,
    removalPolicy,
    lifecycleRules: [
      {
        id: 'ExpireWithTheirTasks',
        prefix: 'results/',
        // Days are counted from the write, which may be the last thing a task does.
        expiration: Duration.days(Math.ceil(maxTtl / DAY) + 1),
        abortIncompleteMultipartUploadAfter: Duration.days(1),
      },
    ],
  });
}
