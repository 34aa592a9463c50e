import { Stack } from 'aws-cdk-lib';
import { Dashboard, GraphWidget, type IMetric, TextWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import type { ServerMetrics } from './metrics.ts';

/** Makes a CloudWatch dashboard with the metrics of a server. It costs $3 a month if the account has three others. */
export function serverDashboard(scope: Construct, metrics: ServerMetrics): Dashboard {
  const graph = (title: string, left: readonly (IMetric | undefined)[]) =>
    new GraphWidget({ title, left: left.filter((metric) => metric !== undefined), width: 8 });
  const { stackName } = Stack.of(scope);
  return new Dashboard(scope, 'Dashboard', {
    widgets: [
      [
        new TextWidget({
          markdown: `Tasks: \`npx mcp-task-server tasks list --stack ${stackName}\`. One task: \`tasks explain ID\`. See docs/operating.md.`,
          width: 24,
          height: 1,
        }),
      ],
      [
        graph('Tasks', [metrics.created, metrics.completed, metrics.failed, metrics.cancelled]),
        graph('Tool errors, ends at the deadline', [metrics.toolErrors, metrics.overdue]),
        graph('Age of the oldest unfinished task (ms)', [metrics.oldestOpen]),
      ],
      [
        graph('Time to start and to end, p99 (ms)', [metrics.timeToStart, metrics.timeToEnd]),
        graph('Time waiting for answers, p99 (ms)', [metrics.timeWaiting]),
        graph('Dead letters', metrics.deadLetters),
      ],
      [
        graph('Requests without a worker', [metrics.throttled]),
        graph('Answers of 500 and more', [metrics.serverErrors]),
        ...(metrics.authorizerErrors ? [graph('Failures of the authorizer', [metrics.authorizerErrors])] : []),
      ],
    ],
  });
}
