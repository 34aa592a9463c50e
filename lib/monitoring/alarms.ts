import type { Duration } from 'aws-cdk-lib';
import { Lazy, Stack } from 'aws-cdk-lib';
import {
  Alarm,
  type CfnAlarm,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { type AwsMetrics, throttlesOf } from './aws-metrics.ts';
import type { ServerMetrics } from './server-metrics.ts';

/** Thresholds of alarms, each over five minutes. An alarm costs $0.10 a month. */
export interface AlarmThresholds {
  /** Failed tasks. @default no alarm @example 5 */
  readonly failed?: number;
  /** The age of the oldest unfinished task. @default no alarm @example Duration.hours(1) */
  readonly oldestOpen?: Duration;
  /** Tasks that the sweep ended at their deadline. @default no alarm @example 1 */
  readonly overdue?: number;
  /** Requests for which the endpoint had no worker. @default no alarm @example 10 */
  readonly throttled?: number;
  /**
   * Tries of tools that Lambda throttles, of ten functions together: an alarm for each ten functions, which costs $0.10 a month
   * for each function. @default no alarm
   * @example 10
   */
  readonly throttledTools?: number;
  /** Answers of the API with a status of 500 or more. @default no alarm @example 5 */
  readonly serverErrors?: number;
  /** Requests whose token could not be checked, for example as its issuer is away. With `oauth` only. @default no alarm @example 1 */
  readonly authorizerErrors?: number;
}

/** "Alarms based on metric math expressions can reference a maximum of 10 metrics" (CloudWatch, alarm limits). */
const FUNCTIONS_OF_ALARM = 10;

/** The alarms for the given thresholds. Each says what happened and the next command. */
export class ServerAlarms extends Construct {
  /** Alarms of tools are added with the tools. */
  readonly alarms: Alarm[];
  readonly #throttledTools: number | undefined;
  readonly #toolFunctions: IFunction[] = [];

  /** Makes itself directly in `server`. */
  constructor(server: ServerMetrics, thresholds: AlarmThresholds, aws: AwsMetrics, hasAuthorizer: boolean) {
    super(server, 'Alarms');
    const { stackName } = Stack.of(this);
    const next = (command: string) => `Next: npx mcp-task-server tasks ${command} --stack ${stackName}`;
    const { failed, oldestOpen, overdue, throttled, throttledTools, serverErrors, authorizerErrors } = thresholds;
    this.#throttledTools = throttledTools;
    const oldest = oldestOpen?.toMilliseconds();
    const rows: readonly (readonly [string, number | undefined, IMetric | undefined, string])[] = [
      ['Failed', failed, server.metricFailed(), `Tasks fail. ${next('list --status failed')}`],
      [
        'OldestOpen',
        oldest,
        server.metricTimeOldestOpen(),
        `A task does not end. ${next('list')}, then: tasks explain ID`,
      ],
      ['Overdue', overdue, server.metricOverdue(), `Tasks end at their deadline. ${next('list --status failed')}`],
      ['Throttled', throttled, aws.throttled, 'Requests find no worker. Next: docs/deploying.md, concurrency'],
      [
        'ServerErrors',
        serverErrors,
        aws.serverErrors,
        'Requests fail. Next: look for unexpected_error in the log of the endpoint',
      ],
      [
        'AuthorizerErrors',
        authorizerErrors,
        hasAuthorizer ? server.metricAuthorizerErrors() : undefined,
        'Tokens cannot be checked. Next: look for unexpected_error in the log of the authorizer',
      ],
    ];
    this.alarms = rows.flatMap(([name, threshold, metric, description]) => {
      if (threshold === undefined) return [];
      if (metric === undefined) throw new Error('McpTaskServer: alarms.authorizerErrors needs auth: Auth.oauth(…)');
      return this.#alarm(name, threshold, metric, description);
    });
  }

  /** Watches the function of a tool. Tools may share one. */
  addTool(handler: IFunction): void {
    if (this.#throttledTools === undefined || this.#toolFunctions.includes(handler)) return;
    const first = this.#toolFunctions.push(handler) - 1;
    if (first % FUNCTIONS_OF_ALARM !== 0) return;
    const metric = new MathExpression({ expression: 'SUM(METRICS())', usingMetrics: { f0: throttlesOf(handler) } });
    const why = 'Lambda throttles tools, and each further try costs. Next: docs/deploying.md, concurrency';
    const alarm = this.#alarm(`ThrottledTools${first / FUNCTIONS_OF_ALARM + 1}`, this.#throttledTools, metric, why);
    // Later tools are not known yet.
    (alarm.node.defaultChild as CfnAlarm).metrics = Lazy.any({
      produce: () => throttlesOfAll(this.#toolFunctions.slice(first, first + FUNCTIONS_OF_ALARM)),
    });
    this.alarms.push(alarm);
  }

  #alarm(name: string, threshold: number, metric: IMetric, alarmDescription: string): Alarm {
    if (!(threshold > 0)) throw new Error(`McpTaskServer: alarms: the threshold of ${name} is more than 0`);
    return new Alarm(this, name, {
      alarmDescription,
      metric,
      threshold,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
  }
}

function throttlesOfAll(functions: readonly IFunction[]): CfnAlarm.MetricDataQueryProperty[] {
  const each = functions.flatMap((handler, index) => {
    const { metricStat } = throttlesOf(handler).toMetricConfig();
    if (metricStat === undefined) return [];
    const { period, statistic: stat, dimensions = [], ...metric } = metricStat;
    return {
      id: `f${index}`,
      metricStat: { metric: { ...metric, dimensions }, period: period.toSeconds(), stat },
      returnData: false,
    };
  });
  return [{ id: 'all', expression: 'SUM(METRICS())', returnData: true }, ...each];
}
