import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { type IQueue, Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import type { StorageProps } from './log-group.ts';

/** Makes a queue `DeadLetters` in `scope`, which keeps its messages for four days. */
export function deadLetterQueue(scope: Construct, { encryptionKey }: StorageProps): IQueue {
  return new Queue(scope, 'DeadLetters', {
    encryption: encryptionKey ? QueueEncryption.KMS : QueueEncryption.SQS_MANAGED,
    ...(encryptionKey && { encryptionMasterKey: encryptionKey }),
    enforceSSL: true,
    retentionPeriod: Duration.days(4),
  });
}

/** Makes an alarm that is on while the queue has a message. */
export function deadLetterAlarm(scope: Construct, queue: IQueue, alarmDescription: string): Alarm {
  return new Alarm(scope, 'DeadLettersWaiting', {
    alarmDescription,
    metric: queue.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum', period: Duration.minutes(5) }),
    comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    threshold: 1,
    evaluationPeriods: 1,
    treatMissingData: TreatMissingData.NOT_BREACHING,
  });
}
