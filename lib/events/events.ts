import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, MathExpression, Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping, type IFunction, RecursiveLoop } from 'aws-cdk-lib/aws-lambda';
import { DeduplicationScope, FifoThroughputLimit, type IQueue, Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { EVENTS_PARTITION } from '../../functions/tasks/attributes.ts';
import { limits } from '../../functions/tasks/limits.ts';
import { NAMESPACE } from '../../functions/tasks/log.ts';
import { BundledCode, bundle } from '../bundles.ts';
import { acknowledgeDeliveries } from '../nag.ts';
import { allow, serverFunction } from '../server-function.ts';
import { allowKey } from '../storage/kms-grants.ts';
import type { StorageProps } from '../storage/log-group.ts';
import { holdOf } from './options.ts';

export interface EventsProps {
  readonly table: ITable;
  /** The name of the server: a dimension of the metrics. */
  readonly serverName: string;
  /** How long an owner must be silent, in ms. */
  readonly hold: number;
  /** How long an event can be read, in ms. */
  readonly kept: number;
  readonly storage: StorageProps;
}

/**
 * Posts MCP Events to their subscribers (docs/events.md): a FIFO queue, in which each subscription is a group, another one, in which each
 * owner with new events is a group, and the function that handles their messages. Without `events` there is nothing of it.
 */
export class Events extends Construct {
  /** What is still to be delivered. A message that fails stays, and holds back its subscription only. */
  readonly queue: IQueue;
  /** Whose logs have new events. It is apart: what is new must not wait for slow receivers, as polls read it, too. */
  readonly newEvents: IQueue;
  /** The function that posts. */
  readonly function: IFunction;
  /** The alarm that is on while an event is an hour old or older. It has no actions: add yours with `alarm.addAlarmAction(…)`. */
  readonly alarms: readonly Alarm[];
  /** The variables of functions that write the log of events. */
  readonly environment: Readonly<Record<'EVENTS_QUEUE_URL' | 'EVENTS_KEPT', string>>;

  constructor(scope: Construct, id: string, { table, serverName, hold, kept, storage }: EventsProps) {
    super(scope, id);
    const { encryptionKey } = storage;
    // An attempt takes up to 10 seconds, and the reads and writes beside it some more.
    const timeout = Duration.seconds(30);
    const queueOf = (name: string) =>
      new Queue(this, name, {
        fifo: true,
        fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
        deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
        encryption: encryptionKey ? QueueEncryption.KMS : QueueEncryption.SQS_MANAGED,
        ...(encryptionKey && { encryptionMasterKey: encryptionKey }),
        enforceSSL: true,
        // The longest that SQS has.
        retentionPeriod: Duration.days(14),
        // "At least six times the timeout" of the function ("Configuring an SQS queue for Lambda").
        visibilityTimeout: Duration.seconds(6 * timeout.toSeconds()),
      });
    const [queue, newEvents] = [queueOf('Queue'), queueOf('NewEvents')];
    acknowledgeDeliveries(this);
    this.queue = queue;
    this.newEvents = newEvents;
    this.environment = { EVENTS_QUEUE_URL: queue.queueUrl, EVENTS_KEPT: String(kept) };
    this.function = serverFunction(
      this,
      'Function',
      {
        description: 'Posts MCP events to their subscribers',
        code: new BundledCode((use) => bundle('eventDelivery', {}, use)),
        memorySize: 256,
        timeout,
        // It sends the next message of a subscription to the queue that invokes it. By default Lambda takes 16 of them for a loop, and stops it:
        // https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
        recursiveLoop: RecursiveLoop.ALLOW,
        environment: {
          SERVER_NAME: serverName,
          TASKS_TABLE: table.tableName,
          ...this.environment,
          NEW_EVENTS_QUEUE_URL: newEvents.queueUrl,
          EVENTS_HOLD: String(hold),
        },
      },
      storage,
    );
    allowEvents(this.function, table, ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query']);
    const receive = ['ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes', 'ChangeMessageVisibility'];
    for (const { queueArn } of [queue, newEvents]) {
      allow(this.function, ['sqs:SendMessage'], queueArn);
      allow(
        this.function,
        receive.map((action) => `sqs:${action}`),
        queueArn,
      );
    }
    allowKey(this.function, this, encryptionKey, ['dynamodb', 'sqs']);
    const receives = (name: string, from: IQueue, maxConcurrency: number) => {
      const mapping = new EventSourceMapping(this, name, {
        target: this.function,
        eventSourceArn: from.queueArn,
        batchSize: 1,
        reportBatchItemFailures: true,
        maxConcurrency,
      });
      // Lambda checks the rights of the role when it makes the mapping.
      mapping.node.addDependency(this.function.role ?? this.function);
    };
    // The live subscriptions of an owner take a quarter at most. More would take the concurrency of the endpoint.
    receives('Deliveries', queue, 4 * limits.mcpEvents.subscriptions);
    // A message works for 10 s at most, mostly for some ms, and an owner has one at a time.
    receives('News', newEvents, limits.mcpEvents.subscriptions);
    const alarm = (name: string, from: IQueue, metricName: string, alarmDescription: string) =>
      new Alarm(this, name, {
        alarmDescription,
        metric: waitingTime(from, new Metric({ ...FAILS, metricName, dimensionsMap: { Server: serverName } })),
        comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        threshold: Duration.hours(1).toMilliseconds(),
        // The period that has just begun has no attempt yet: FILL makes it 0 ("M out of N",
        // docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html).
        evaluationPeriods: 2,
        datapointsToAlarm: 1,
        treatMissingData: TreatMissingData.NOT_BREACHING,
      });
    this.alarms = [
      alarm(
        'Undelivered',
        queue,
        'TimeDeliveryFails',
        'A subscriber has not taken an event for an hour. Next: npx mcp-task-server tasks logs --part deliveries, and docs/events.md',
      ),
      alarm(
        'Unlogged',
        newEvents,
        'TimeLoggingFails',
        'New events of an owner have not come into its log for an hour. Next: npx mcp-task-server tasks logs --part deliveries',
      ),
    ];
  }

  /** Lets a function queue deliveries. */
  allowSender(sender: IFunction): void {
    allow(sender, ['sqs:SendMessage'], this.queue.queueArn);
  }
}

/** Attempts are at most 15 minutes apart, so each period has one. */
const FAILS = { namespace: NAMESPACE, statistic: Stats.MAXIMUM, period: Duration.minutes(20) };

/**
 * For how long a message of a queue waits, in ms. SQS leaves out what was received more than three times and not deleted
 * (docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html): of these messages the
 * function publishes the time. It cannot do so for what it was never invoked with.
 */
function waitingTime(queue: IQueue, fails: Metric): MathExpression {
  const { statistic, period } = FAILS;
  const age = queue.metricApproximateAgeOfOldestMessage({ statistic, period });
  const expression = 'MAX([FILL(fails, 0), FILL(age, 0) * 1000])';
  return new MathExpression({ expression, usingMetrics: { fails, age }, period });
}

/** Allows actions of DynamoDB on the items of events only. @param partition of the items, from its beginning on */
export function allowEvents(
  handler: IFunction,
  table: ITable,
  actions: readonly string[],
  partition: string = EVENTS_PARTITION,
): void {
  const statement = new PolicyStatement({
    actions: actions.map((action) => `dynamodb:${action}`),
    resources: [table.tableArn],
    conditions: {
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [`${partition}*`] },
      // ForAllValues holds for a request without the key.
      Null: { 'dynamodb:LeadingKeys': 'false' },
    },
  });
  handler.addToRolePolicy(statement);
}

/** Makes the events of a server. Undefined: it has none. Throws for what cannot work. */
export function eventsOf(
  scope: Construct,
  id: string,
  props: Parameters<typeof holdOf>[0],
  parts: Omit<EventsProps, 'hold'>,
): Events | undefined {
  const hold = holdOf(props);
  return hold === undefined ? undefined : new Events(scope, id, { ...parts, hold });
}
