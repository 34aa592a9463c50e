import { App, Duration, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import type { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { expect, test } from 'vitest';
import { Auth, McpTaskServer, type McpTaskServerProps } from '../../lib/index.ts';
import { readPage } from '../docs/pages.ts';

const withTokens = Auth.oauth({ issuer: 'https://issuer.example', audience: 'https://api.example/mcp' });

function made(props: Partial<McpTaskServerProps>, addTools: (server: McpTaskServer) => void = () => {}) {
  const stack = new Stack(new App(), 'Shop');
  const server = new McpTaskServer(stack, 'Server', { auth: withTokens, ...props });
  addTools(server);
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
    ['AuthorizerErrors', 1, 'McpTaskServer'],
    ['Failed', 5, 'McpTaskServer'],
    ['Overdue', 1, 'McpTaskServer'],
    ['Throttles', 10, 'AWS/Lambda'],
    ['TimeOldestOpen', 7_200_000, 'McpTaskServer'],
  ]);
  for (const [, { Properties }] of alarms) {
    expect(Properties.AlarmDescription).toMatch(/Next: /);
    expect(Properties.TreatMissingData).toBe('notBreaching');
  }
  // CloudWatch knows an API by its name only.
  const [api] = Object.values(template.findResources('AWS::ApiGateway::RestApi'));
  const name = api?.Properties.Name;
  expect(name).toMatch(/^Shop/);
  const requests = alarms.find(([, { Properties }]) => Properties.MetricName === '5XXError');
  expect(requests?.[1].Properties.Dimensions).toEqual([{ Name: 'ApiName', Value: name }]);
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

test('one alarm watches ten functions of tools, also of tools without tasks, each function once', () => {
  const { server, template } = made({ alarms: { throttledTools: 20 } }, (added) => {
    const handler = (name: string) =>
      LambdaFunction.fromFunctionArn(added, name, `arn:aws:lambda:eu-west-1:123456789012:function:${name}`);
    const shared = handler('shared');
    const tool = { description: 'd', inputSchema: { type: 'object' } } as const;
    added.addTool('one', { ...tool, handler: shared, taskSupport: 'optional' });
    added.addTool('two', { ...tool, handler: shared });
    for (let n = 1; n <= 10; n++) added.addTool(`own_${n}`, { ...tool, handler: handler(`own${n}`) });
  });
  const alarms = Object.values(template.findResources('AWS::CloudWatch::Alarm')).flatMap(({ Properties }) =>
    Properties.AlarmDescription.startsWith('Lambda throttles tools') ? [Properties] : [],
  );
  const sum = { Id: 'all', Expression: 'SUM(METRICS())', ReturnData: true };
  const throttles = (name: string, index: number) => ({
    Id: `f${index}`,
    MetricStat: {
      Metric: {
        Namespace: 'AWS/Lambda',
        MetricName: 'Throttles',
        Dimensions: [{ Name: 'FunctionName', Value: name }],
      },
      Period: 300,
      Stat: 'Sum',
    },
    ReturnData: false,
  });
  const first = ['shared', ...Array.from({ length: 9 }, (_, index) => `own${index + 1}`)];
  expect(alarms).toMatchObject([
    { Threshold: 20, Metrics: [sum, ...first.map(throttles)] },
    { Threshold: 20, Metrics: [sum, throttles('own10', 0)] },
  ]);
  expect(server.alarms).toHaveLength(6);
});

test('a threshold that cannot be watched is refused by its name', () => {
  expect(() => made({ auth: Auth.anonymous(), alarms: { authorizerErrors: 1 } })).toThrow(
    /alarms\.authorizerErrors.*oauth/,
  );
  expect(() => made({ alarms: { failed: 0 } })).toThrow(/threshold of Failed/);
});

test('the dashboard has the metrics of this server', () => {
  const { template } = made({ dashboard: true });
  const [dashboard] = Object.values(template.findResources('AWS::CloudWatch::Dashboard'));
  const body = JSON.stringify(dashboard?.Properties.DashboardBody);
  for (const metric of [
    'Created',
    'Failed',
    'TimeOldestOpen',
    'Throttles',
    '5XXError',
    'AuthorizerErrors',
    'TimeToEnd',
  ]) {
    expect(body).toContain(`\\"${metric}\\"`);
  }
});

test('each metric that docs/events.md lists has a method, with the dimension of the server', () => {
  const { server } = made({});
  const [, section = ''] = /^## Metrics\n(.*?)^## /ms.exec(readPage('docs/events.md')) ?? [];
  const names = [...section.matchAll(/`([A-Z]\w+)`/g)].map(([, name = '']) => name);
  const published = new Set(names.filter((name) => !['McpTaskServer', 'Server', 'Tool', 'Kind'].includes(name)));
  expect(published.size).toBe(23);
  const methods = server as unknown as Record<string, (kind?: string) => Metric>;
  for (const name of published) {
    const metric = name === 'Repaired' ? server.metricRepaired('overdue') : methods[`metric${name}`]?.();
    const statistic = ['TimeOldestOpen', 'TimeDeliveryFails', 'TimeLoggingFails'].includes(name)
      ? 'Maximum'
      : name.startsWith('Time')
        ? 'p99'
        : 'Sum';
    expect(metric, name).toMatchObject({ namespace: 'McpTaskServer', metricName: name, statistic });
    const { Server, ...others } = metric?.dimensions ?? {};
    expect(Server).toMatch(/^Shop/);
    expect(others).toEqual(name === 'Repaired' ? { Kind: 'overdue' } : {});
  }
});
