import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { Match, Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import type { Code, IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { NAMESPACE } from '../functions/tasks/log.ts';
import { allow, serverFunction } from './server-function.ts';
import { deadLetterAlarm, deadLetterQueue } from './storage/dead-letters.ts';
import { allowKey } from './storage/kms-grants.ts';
import type { StorageProps } from './storage/log-group.ts';
import { machineArn } from './tools/tool-workflow.ts';

export interface ReconcilerProps {
  readonly table: ITable;
  /** Holds the large inputs of tasks. */
  readonly results: IBucket;
  /** The name of every tool workflow of this server begins with it. */
  readonly machinePrefix: string;
  /** Names of the state machines that are tools, joined by commas. Complete at synth. */
  readonly toolMachines: string;
  readonly checksPerSecond: number;
  readonly code: Code;
  readonly storage: StorageProps;
}

/**
 * Settles tasks that a crash left behind (docs/architecture/tasks.md, "Repair"): at once when a run ends in a way that no
 * workflow can catch, and once a minute for tasks without an event. Events are best effort, and may be lost.
 */
export class Reconciler extends Construct {
  readonly function: IFunction;
  /**
   * Events that failed three times, or could not be delivered for a day. They hold the input of a run. The sweep
   * settles the same tasks without them: see docs/recovery.md.
   */
  readonly deadLetters: IQueue;
  /** The alarms of the reconciler. They have no actions: add yours with `alarm.addAlarmAction(…)`. */
  readonly alarms: readonly Alarm[];

  constructor(scope: Construct, id: string, props: ReconcilerProps) {
    const { table, results, machinePrefix, toolMachines, checksPerSecond, code, storage } = props;
    super(scope, id);
    const { encryptionKey } = storage;
    const serverName = machinePrefix.replace(/-$/, '');
    this.deadLetters = deadLetterQueue(this, storage);
    const options = {
      description: 'Settles MCP tasks that a crash left behind',
      code,
      memorySize: 512,
      timeout: Duration.minutes(1),
      environment: {
        TASKS_TABLE: table.tableName,
        RESULTS_BUCKET: results.bucketName,
        MACHINE_ARN_PREFIX: machineArn(this, machinePrefix),
        SERVER_NAME: serverName,
        TOOL_MACHINES: toolMachines,
        CHECKS_PER_SECOND: String(checksPerSecond),
      },
      // Both count from the time when Lambda has the event: EventBridge delivers it once.
      maxEventAge: Duration.hours(6),
      retryAttempts: 2,
      onFailure: { bind: () => ({ destination: this.deadLetters.queueArn }) },
    };
    // No concurrency is reserved: an account with a small quota has none to give. A few runs at once do no harm.
    this.function = serverFunction(this, 'Function', options, storage);
    const machines = machineArn(this, `${machinePrefix}*`);
    for (const index of ['due', 'status']) allow(this.function, ['dynamodb:Query'], `${table.tableArn}/index/${index}`);
    allow(this.function, ['dynamodb:GetItem', 'dynamodb:UpdateItem'], table.tableArn);
    allow(this.function, ['s3:GetObject', 's3:PutObject'], results.arnForObjects('inputs/*'));
    allow(this.function, ['s3:PutObject'], results.arnForObjects('outcomes/*'));
    allow(
      this.function,
      ['states:DescribeExecution', 'states:StopExecution'],
      `${machines.replace(':stateMachine:', ':execution:')}:*`,
    );
    allow(this.function, ['states:StartExecution'], machines);
    allow(this.function, ['sqs:SendMessage'], this.deadLetters.queueArn);
    allowKey(this.function, this, encryptionKey, ['dynamodb', 's3Read', 's3Write', 'states', 'sqs']);
    this.#trigger(machinePrefix);
    this.alarms = [this.#heartbeat(serverName), this.#letters()];
  }

  /** Allows reads of the executions of a state machine that is a tool. */
  allowReads(executionsArn: string): void {
    allow(this.function, ['states:DescribeExecution'], executionsArn);
  }

  #trigger(machinePrefix: string): void {
    new Rule(this, 'RunEnded', {
      description: 'A run ended in a way that its workflow could not catch',
      eventPattern: {
        source: ['aws.states'],
        detailType: ['Step Functions Execution Status Change'],
        detail: {
          status: ['FAILED', 'TIMED_OUT', 'ABORTED'],
          stateMachineArn: Match.prefix(machineArn(this, machinePrefix)),
        },
      },
      targets: [
        new LambdaTarget(this.function, {
          deadLetterQueue: this.deadLetters,
          maxEventAge: Duration.hours(24),
          retryAttempts: 185,
        }),
      ],
    });
    // A sweep that fails is not repeated: the next one comes in a minute.
    new Rule(this, 'Sweep', {
      description: 'Looks for tasks that are overdue, or were never started',
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [new LambdaTarget(this.function, { maxEventAge: Duration.minutes(1), retryAttempts: 0 })],
    });
  }

  #heartbeat(Server: string): Alarm {
    const period = Duration.minutes(1);
    return new Alarm(this, 'NoSweep', {
      alarmDescription: 'No sweep has ended for five minutes: crashed tasks stay as they are',
      metric: new Metric({
        namespace: NAMESPACE,
        metricName: 'Sweep',
        dimensionsMap: { Server },
        statistic: 'Sum',
        period,
      }),
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      threshold: 1,
      evaluationPeriods: 5,
      treatMissingData: TreatMissingData.BREACHING,
    });
  }

  #letters(): Alarm {
    return deadLetterAlarm(
      this,
      this.deadLetters,
      'Ends of runs that could not be dealt with at once: the sweep does so. See docs/recovery.md',
    );
  }
}
