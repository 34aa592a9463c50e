import { Duration } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { type IMetric, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { NAMESPACE } from '../../functions/tasks/log.ts';

/** The parts of a server that alarms and the dashboard watch. */
export interface Watched {
  /** The dimension `Server` of its metrics. */
  readonly serverName: string;
  readonly api: RestApi;
  readonly endpoint: IFunction;
  readonly authorizer: IFunction | undefined;
  readonly deadLetters: readonly IQueue[];
}

const period = Duration.minutes(5);

/** The invocations of a function that Lambda throttles, over five minutes. */
export const throttlesOf = (handler: IFunction): Metric => handler.metricThrottles({ statistic: Stats.SUM, period });

/** The metrics of one server, over five minutes: docs/events.md. */
export function serverMetrics({ serverName, api, endpoint, authorizer, deadLetters }: Watched) {
  const own = (metricName: string, statistic: string = Stats.SUM): IMetric =>
    new Metric({ namespace: NAMESPACE, metricName, dimensionsMap: { Server: serverName }, statistic, period });
  return {
    created: own('Created'),
    completed: own('Completed'),
    failed: own('Failed'),
    cancelled: own('Cancelled'),
    toolErrors: own('ToolErrors'),
    timeToStart: own('TimeToStart', Stats.p(99)),
    timeToEnd: own('TimeToEnd', Stats.p(99)),
    timeWaiting: own('TimeWaitingForInput', Stats.p(99)),
    oldestOpen: own('TimeOldestOpen', Stats.MAXIMUM),
    overdue: own('Overdue'),
    throttled: throttlesOf(endpoint),
    serverErrors: api.metricServerError({ statistic: Stats.SUM, period }),
    authorizerErrors: authorizer?.metricErrors({ statistic: Stats.SUM, period }),
    deadLetters: deadLetters.map((queue) =>
      queue.metricApproximateNumberOfMessagesVisible({ statistic: Stats.MAXIMUM, period }),
    ),
  };
}

export type ServerMetrics = ReturnType<typeof serverMetrics>;
