import { Duration, Lazy } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { EventBus } from 'aws-cdk-lib/aws-events';
import {
  EventSourceMapping,
  FilterCriteria,
  FilterRule,
  type IFunction,
  StartingPosition,
} from 'aws-cdk-lib/aws-lambda';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { KEY, NEW_PARTITION, PROBE } from '../functions/tasks/attributes.ts';
import { STATUSES } from '../functions/tasks/record.ts';
import { BundledCode, bundle } from './bundles.ts';
import { allowEvents, type Events } from './events/events.ts';
import { acknowledgeWildcard } from './nag.ts';
import { allow, serverFunction } from './server-function.ts';
import type { McpTaskServerProps } from './server-props.ts';
import { deadLetterAlarm, deadLetterQueue } from './storage/dead-letters.ts';
import { allowKey } from './storage/kms-grants.ts';
import type { StorageProps } from './storage/log-group.ts';

export interface TaskEventsProps {
  /** The tasks table. It has a stream with old and new images. */
  readonly table: ITable;
  /** Gets the large results of workflows. */
  readonly results: IBucket;
  /** The name of the server: a dimension of the metrics, and a part of each event. */
  readonly serverName: string;
  readonly eventBus: McpTaskServerProps['eventBus'];
  readonly metricsByTool: boolean;
  /** The part before all links. Undefined: their URLs are not published. */
  readonly linksUrl: string | undefined;
  /** Begins the next round of a task that has all it waits for. */
  readonly reconciler: IFunction;
  readonly storage: StorageProps;
  /** Undefined: the server has no MCP Events. */
  readonly events: Events | undefined;
  /** The tools whose events have a summary. */
  readonly summarized: () => readonly string[];
}

/**
 * Publishes every committed change of a task (docs/events.md): metrics, audit lines and `Task Status Change` on
 * EventBridge. It reads the table's stream, so it publishes only what was written, and a crash loses nothing. The stream
 * keeps it warm, so tool workflows also call it to write an end with a large result, which they cannot write themselves.
 */
export class TaskEvents extends Construct {
  readonly function: IFunction;
  /** The positions in the stream of changes that could not be published, without the records: see docs/events.md. */
  readonly deadLetters: IQueue;
  /** The alarms of this function. They have no actions: add yours with `alarm.addAlarmAction(…)`. */
  readonly alarms: readonly Alarm[];

  constructor(scope: Construct, id: string, props: TaskEventsProps) {
    const { table, results, serverName, eventBus, metricsByTool, linksUrl, reconciler, storage, events, summarized } =
      props;
    super(scope, id);
    const { encryptionKey } = storage;
    const bus = eventBus ?? EventBus.fromEventBusName(this, 'DefaultBus', 'default');
    this.deadLetters = deadLetterQueue(this, storage);
    this.function = serverFunction(
      this,
      'Function',
      {
        description: 'Publishes the changes of MCP tasks: metrics, audit lines and events',
        code: new BundledCode((use) => bundle('taskEvents', {}, use)),
        memorySize: 256,
        timeout: Duration.minutes(1),
        environment: {
          SERVER_NAME: serverName,
          EVENT_BUS: bus.eventBusArn,
          METRICS_BY_TOOL: String(metricsByTool),
          RECONCILER: reconciler.functionName,
          TASKS_TABLE: table.tableName,
          RESULTS_BUCKET: results.bucketName,
          ...(linksUrl !== undefined && { LINKS_URL: linksUrl }),
          ...(events && { NEW_EVENTS_QUEUE_URL: events.newEvents.queueUrl }),
          // Left out if no tool has a summary.
          ...(events && { EVENT_SUMMARIES: Lazy.string({ produce: () => summarized().join(',') || undefined }) }),
        },
      },
      storage,
    );
    const stream = table.tableStreamArn ?? '';
    // A restored table gets another stream (docs/recovery.md, "The table was deleted").
    const streams = `${table.tableArn}/stream/*`;
    acknowledgeWildcard(this, streams, 'The streams of one table');
    const read = ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'];
    allow(this.function, read, streams);
    // This action has no resource in IAM.
    allow(this.function, ['dynamodb:ListStreams'], '*');
    allow(this.function, ['events:PutEvents'], bus.eventBusArn);
    allow(this.function, ['lambda:InvokeFunction'], reconciler.functionArn);
    allow(this.function, ['dynamodb:GetItem', 'dynamodb:UpdateItem'], table.tableArn);
    allow(this.function, ['s3:PutObject'], results.arnForObjects('outcomes/*'));
    allow(this.function, ['s3:GetObject', 's3:PutObject'], results.arnForObjects('inputs/*'));
    allow(this.function, ['sqs:SendMessage'], this.deadLetters.queueArn);
    if (events) {
      allow(this.function, ['sqs:SendMessage'], events.newEvents.queueArn);
      allowEvents(this.function, table, ['PutItem'], NEW_PARTITION);
    }
    allowKey(this.function, this, encryptionKey, ['dynamodb', 's3Read', 's3Write', 'sqs']);
    const mapping = new EventSourceMapping(this, 'Stream', {
      target: this.function,
      eventSourceArn: stream,
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize: 100,
      // The changes of one item still come in order.
      parallelizationFactor: 4,
      bisectBatchOnError: true,
      reportBatchItemFailures: true,
      // The stream drops a record after this time. The function gives an event up before that.
      maxRecordAge: Duration.hours(24),
      onFailure: { bind: () => ({ destination: this.deadLetters.queueArn }) },
      // Other items of the table have no status, and a deleted item has no new image.
      filters: [
        FilterCriteria.filter({ dynamodb: { NewImage: { status: { S: FilterRule.or(...STATUSES) } } } }),
        FilterCriteria.filter({ dynamodb: { Keys: { [KEY.partition]: { S: FilterRule.isEqual(PROBE.owner) } } } }),
      ],
    });
    // Lambda checks the rights of the role when it makes the mapping.
    mapping.node.addDependency(this.function.role ?? this.function);
    const behind = new Alarm(this, 'Behind', {
      alarmDescription:
        'Changes of tasks are published 15 minutes late, or not at all: see docs/events.md, "When it does not work"',
      metric: this.function.metric('IteratorAge', { statistic: 'Maximum', period: Duration.minutes(15) }),
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      threshold: Duration.minutes(15).toMilliseconds(),
      evaluationPeriods: 1,
      // The sweep writes a probe each minute, so a stream that is read always has a value.
      treatMissingData: TreatMissingData.BREACHING,
    });
    const letters = deadLetterAlarm(
      this,
      this.deadLetters,
      'Changes of tasks that could not be published: see docs/events.md',
    );
    this.alarms = [behind, letters];
  }
}
