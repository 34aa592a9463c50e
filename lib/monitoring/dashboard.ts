import { Stack } from 'aws-cdk-lib';
import { Dashboard, GraphWidget, type IMetric, TextWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { AwsMetrics } from './aws-metrics.ts';
import type { ServerMetrics } from './server-metrics.ts';

/** Makes a CloudWatch dashboard with the metrics of a server. It costs $3 a month if the account has three others. */
export function serverDashboard(server: ServerMetrics, aws: AwsMetrics, hasAuthorizer: boolean): Dashboard {
  const graph = (title: string, left: IMetric[]) => new GraphWidget({ title, left, width: 8 });
  const { stackName } = Stack.of(server);
  return new Dashboard(server, 'Dashboard', {
    widgets: [
      [
        new TextWidget({
          markdown: `Tasks: \`npx mcp-task-server tasks list --stack ${stackName}\`. One task: \`tasks explain ID\`. See docs/operating.md.`,
          width: 24,
          height: 1,
        }),
      ],
      [
        graph('Tasks', [
          server.metricCreated(),
          server.metricCompleted(),
          server.metricFailed(),
          server.metricCancelled(),
        ]),
        graph('Tool errors, ends at the deadline', [server.metricToolErrors(), server.metricOverdue()]),
        graph('Age of the oldest unfinished task (ms)', [server.metricTimeOldestOpen()]),
      ],
      [
        graph('Time to start and to end, p99 (ms)', [server.metricTimeToStart(), server.metricTimeToEnd()]),
        graph('Time waiting for answers, p99 (ms)', [server.metricTimeWaitingForInput()]),
        graph('Dead letters', aws.deadLetters),
      ],
      [
        graph('Requests without a worker', [aws.throttled]),
        graph('Answers of 500 and more', [aws.serverErrors]),
        ...(hasAuthorizer ? [graph('Tokens that could not be checked', [server.metricAuthorizerErrors()])] : []),
      ],
    ],
  });
}
