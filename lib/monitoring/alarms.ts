import type { Duration } from 'aws-cdk-lib';
import { Stack } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { ServerMetrics } from './metrics.ts';

/** Thresholds of alarms, each over five minutes. An alarm costs $0.10 a month. */
export interface AlarmThresholds {
  /** Failed tasks. @default no alarm */
  readonly failed?: number;
  /** The age of the oldest unfinished task. @default no alarm */
  readonly oldestOpen?: Duration;
  /** Tasks that the sweep ended at their deadline. @default no alarm */
  readonly overdue?: number;
  /** Requests for which the endpoint had no worker. @default no alarm */
  readonly throttled?: number;
  /** Answers of the API with a status of 500 or more. @default no alarm */
  readonly serverErrors?: number;
  /** Failures of the authorizer: no caller gets in. With `oauth` only. @default no alarm */
  readonly authorizerErrors?: number;
}

/** The alarms for the given thresholds. Each says what happened and the next command. */
export class ServerAlarms extends Construct {
  readonly alarms: readonly Alarm[];

  constructor(scope: Construct, id: string, thresholds: AlarmThresholds, metrics: ServerMetrics) {
    super(scope, id);
    const { stackName } = Stack.of(this);
    const next = (command: string) => `Next: npx mcp-task-server tasks ${command} --stack ${stackName}`;
    const { failed, oldestOpen, overdue, throttled, serverErrors, authorizerErrors } = thresholds;
    const oldest = oldestOpen?.toMilliseconds();
    const rows: readonly (readonly [string, number | undefined, IMetric | undefined, string])[] = [
      ['Failed', failed, metrics.failed, `Tasks fail. ${next('list --status failed')}`],
      ['OldestOpen', oldest, metrics.oldestOpen, `A task does not end. ${next('list')}, then: tasks explain ID`],
      ['Overdue', overdue, metrics.overdue, `Tasks end at their deadline. ${next('list --status failed')}`],
      ['Throttled', throttled, metrics.throttled, 'Requests find no worker. Next: docs/deploying.md, concurrency'],
      [
        'ServerErrors',
        serverErrors,
        metrics.serverErrors,
        'Requests fail. Next: look for unexpected_error in the log of the endpoint',
      ],
      [
        'AuthorizerErrors',
        authorizerErrors,
        metrics.authorizerErrors,
        'No caller gets in. Next: look for unexpected_error in the log of the authorizer',
      ],
    ];
    this.alarms = rows.flatMap(([name, threshold, metric, alarmDescription]) => {
      if (threshold === undefined) return [];
      if (metric === undefined) throw new Error('McpTaskServer: alarms.authorizerErrors needs auth: oauth(…)');
      if (!(threshold > 0)) throw new Error(`McpTaskServer: alarms: the threshold of ${name} is more than 0`);
      return new Alarm(this, name, {
        alarmDescription,
        metric,
        threshold,
        evaluationPeriods: 1,
        comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        treatMissingData: TreatMissingData.NOT_BREACHING,
      });
    });
  }
}
