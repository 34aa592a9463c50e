import { Duration } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { type Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';

/** The parts of a server of which AWS itself publishes metrics that alarms and the dashboard watch. */
export interface Watched {
  readonly api: RestApi;
  readonly endpoint: IFunction;
  readonly deadLetters: readonly IQueue[];
}

const period = Duration.minutes(5);

/** The invocations of a function that Lambda throttles, over five minutes. */
export const throttlesOf = (handler: IFunction): Metric => handler.metricThrottles({ statistic: Stats.SUM, period });

/** The metrics of AWS, over five minutes. */
export const awsMetrics = ({ api, endpoint, deadLetters }: Watched) => ({
  throttled: throttlesOf(endpoint),
  serverErrors: api.metricServerError({ statistic: Stats.SUM, period }),
  deadLetters: deadLetters.map((queue) =>
    queue.metricApproximateNumberOfMessagesVisible({ statistic: Stats.MAXIMUM, period }),
  ),
});

export type AwsMetrics = ReturnType<typeof awsMetrics>;
