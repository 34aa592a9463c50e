import { App, Duration, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { expect, test } from 'vitest';
import { Auth, McpTaskServer, type McpTaskServerProps } from '../../lib/index.ts';

type Events = McpTaskServerProps['events'];

/** The template of a server: its resources as JSON text, by their logical ids. Code differs by the path of its asset only. */
function resourcesOf(events?: Events, auth: McpTaskServerProps['auth'] = Auth.iam()): Map<string, string> {
  const stack = new Stack(new App(), 'S');
  new McpTaskServer(stack, 'Server', { auth, ...(events !== undefined && { events }) });
  const { Resources } = Template.fromStack(stack).toJSON();
  return new Map(Object.entries(Resources).map(([id, resource]) => [id, JSON.stringify(resource)]));
}

/** The logical ids without the digests that CDK appends. */
const plain = (ids: Iterable<string>) => [...ids].map((id) => id.replace(/[0-9A-F]{8}$/, '')).sort();

test('events add two queues, their function and alarms, and without them nothing is different', () => {
  const [without, off, on] = [resourcesOf(), resourcesOf(false), resourcesOf(true)];
  expect(off).toEqual(without);
  expect(plain([...on.keys()].filter((id) => !without.has(id)))).toEqual([
    'ServerEventsDeliveries',
    'ServerEventsFunction',
    'ServerEventsLogs',
    'ServerEventsNewEvents',
    'ServerEventsNewEventsPolicy',
    'ServerEventsNews',
    'ServerEventsQueue',
    'ServerEventsQueuePolicy',
    'ServerEventsRole',
    'ServerEventsRoleDefaultPolicy',
    'ServerEventsUndelivered',
    'ServerEventsUnlogged',
  ]);
  const changed = [...without.keys()].filter((id) => on.get(id) !== without.get(id) && !/Deployment/.test(id));
  expect(plain(changed)).toEqual([
    'ServerEndpoint',
    'ServerEndpointRoleDefaultPolicy',
    'ServerOperatorAct',
    'ServerOperatorPayload',
    'ServerOperatorRead',
    'ServerTaskEventsFunction',
    'ServerTaskEventsRoleDefaultPolicy',
  ]);
});

test.each([
  ['ServerEventsUndelivered', 'TimeDeliveryFails'],
  ['ServerEventsUnlogged', 'TimeLoggingFails'],
])('%s counts messages that SQS leaves out of their age, as they come again and again', (id, name) => {
  const [, text = '{}'] = [...resourcesOf(true)].find(([found]) => found.startsWith(id)) ?? [];
  const { Metrics, Threshold, EvaluationPeriods, DatapointsToAlarm } = JSON.parse(text).Properties;
  expect([Threshold, DatapointsToAlarm, EvaluationPeriods]).toEqual([3_600_000, 1, 2]);
  const facts = Metrics.map(({ Expression, MetricStat }: { Expression?: string; MetricStat?: { Metric: object } }) =>
    Expression === undefined ? MetricStat?.Metric : { Expression },
  );
  const age = { Namespace: 'AWS/SQS', MetricName: 'ApproximateAgeOfOldestMessage' };
  expect(facts).toMatchObject([
    { Expression: 'MAX([FILL(fails, 0), FILL(age, 0) * 1000])' },
    { Namespace: 'McpTaskServer', MetricName: name, Dimensions: [{ Name: 'Server' }] },
    { ...age, Dimensions: [{ Name: 'QueueName' }] },
  ]);
});

test('the function that posts may send to the queue that invokes it, again and again', () => {
  const functions = [...resourcesOf(true)].filter(([, text]) => text.includes('"RecursiveLoop":"Allow"'));
  expect(plain(functions.map(([id]) => id))).toEqual(['ServerEventsFunction']);
});

test('the hold is a variable of the function that posts, in ms', () => {
  const holdOf = (events: Events) => {
    const [, text = ''] = [...resourcesOf(events)].find(([id]) => id.startsWith('ServerEventsFunction')) ?? [];
    return JSON.parse(text).Properties.Environment.Variables.EVENTS_HOLD;
  };
  expect(holdOf(true)).toBe('90000');
  expect(holdOf({ hold: Duration.minutes(5) })).toBe('300000');
  expect(holdOf({ hold: Duration.seconds(0) })).toBe('0');
});

test('the names of tools with eventSummary are a variable of TaskEvents, left out for none', () => {
  const variableOf = (summarized: readonly string[], events?: Events) => {
    const stack = new Stack(new App(), 'S');
    const server = new McpTaskServer(stack, 'Server', { auth: Auth.iam(), ...(events && { events }) });
    const handler = LambdaFunction.fromFunctionName(stack, 'F', 'f');
    for (const name of ['a', 'b', 'c']) {
      const tool = { handler, description: 'd', inputSchema: { type: 'object' }, taskSupport: 'optional' } as const;
      server.addTool(name, summarized.includes(name) ? { ...tool, eventSummary: true } : tool);
    }
    const functions = Object.entries(Template.fromStack(stack).findResources('AWS::Lambda::Function'));
    const [, found] = functions.find(([id]) => id.startsWith('ServerTaskEventsFunction')) ?? [];
    return found?.Properties.Environment.Variables;
  };
  expect(variableOf(['a', 'c'], true).EVENT_SUMMARIES).toBe('a,c');
  expect(variableOf([], true)).not.toHaveProperty('EVENT_SUMMARIES');
  expect(variableOf(['a'])).not.toHaveProperty('EVENT_SUMMARIES');
});

test('synth refuses events for anonymous callers, and a hold of more than 5 minutes', () => {
  expect(() => resourcesOf(true, Auth.anonymous())).toThrow('events need to know whose a task is');
  expect(() => resourcesOf({ hold: Duration.minutes(6) })).toThrow('hold lies between 0 and 5 minutes');
});
