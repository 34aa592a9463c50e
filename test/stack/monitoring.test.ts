import { App, Duration, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import { anonymous, McpTaskServer, type McpTaskServerProps, oauth } from '../../lib/index.ts';

const withTokens = oauth({ issuer: 'https://issuer.example', audience: 'https://api.example/mcp' });

function made(props: Partial<McpTaskServerProps>) {
  const stack = new Stack(new App(), 'Shop');
  const server = new McpTaskServer(stack, 'Server', { auth: withTokens, ...props });
  return { server, template: Template.fromStack(stack) };
}
const all = {
  ...{ failed: 5, overdue: 1, throttled: 10, serverErrors: 2, authorizerErrors: 1 },
  oldestOpen: Duration.hours(2),
};

test('each threshold makes one alarm on its metric, whose text says the next command', () => {
  const { server, template } = made({ alarms: all });
  const alarms = Object.entries(template.findResources('AWS::CloudWatch::Alarm')).filter(([id]) =>
    id.startsWith('ServerAlarms'),
  );
  const facts = alarms.map(([, { Properties }]) => [Properties.MetricName, Properties.Threshold, Properties.Namespace]);
  expect(facts.toSorted()).toEqual([
    ['5XXError', 2, 'AWS/ApiGateway'],
    ['Errors', 1, 'AWS/Lambda'],
    ['Failed', 5, 'McpTaskServer'],
    ['Overdue', 1, 'McpTaskServer'],
    ['Throttles', 10, 'AWS/Lambda'],
    ['TimeOldestOpen', 7_200_000, 'McpTaskServer'],
  ]);
  for (const [, { Properties }] of alarms) {
    expect(Properties.AlarmDescription).toMatch(/Next: /);
    expect(Properties.TreatMissingData).toBe('notBreaching');
  }
  const failed = alarms.find(([, { Properties }]) => Properties.MetricName === 'Failed');
  expect(failed?.[1].Properties.AlarmDescription).toContain('tasks list --status failed --stack Shop');
  expect(server.alarms).toHaveLength(10);
});

test('without thresholds there are the four alarms of every server, and no dashboard', () => {
  const { server, template } = made({});
  expect(server.alarms).toHaveLength(4);
  template.resourceCountIs('AWS::CloudWatch::Alarm', 4);
  template.resourceCountIs('AWS::CloudWatch::Dashboard', 0);
});

test('a threshold that cannot be watched is refused by its name', () => {
  expect(() => made({ auth: anonymous(), alarms: { authorizerErrors: 1 } })).toThrow(/alarms\.authorizerErrors.*oauth/);
  expect(() => made({ alarms: { failed: 0 } })).toThrow(/threshold of Failed/);
});

test('the dashboard has the metrics of this server', () => {
  const { template } = made({ dashboard: true });
  const [dashboard] = Object.values(template.findResources('AWS::CloudWatch::Dashboard'));
  const body = JSON.stringify(dashboard?.Properties.DashboardBody);
  for (const metric of ['Created', 'Failed', 'TimeOldestOpen', 'Throttles', '5XXError', 'Errors', 'TimeToEnd']) {
    expect(body).toContain(`\\"${metric}\\"`);
  }
});
