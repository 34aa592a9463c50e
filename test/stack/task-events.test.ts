import { App, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { expect, test } from 'vitest';
import { Auth, McpTaskServer } from '../../lib/index.ts';

function templateOf(withBus = false): Template {
  const stack = new Stack(new App(), 'S');
  const eventBus = withBus ? new EventBus(stack, 'Bus') : undefined;
  new McpTaskServer(stack, 'Server', { auth: Auth.anonymous(), ...(eventBus && { eventBus }) });
  return Template.fromStack(stack);
}
const template = templateOf();

test('the table has a stream with both images, and the function reads it from its beginning', () => {
  template.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
    StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
  });
  template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
    StartingPosition: 'TRIM_HORIZON',
    BatchSize: 100,
    ParallelizationFactor: 4,
    BisectBatchOnFunctionError: true,
    FunctionResponseTypes: ['ReportBatchItemFailures'],
    MaximumRecordAgeInSeconds: 86_400,
    EventSourceArn: { 'Fn::GetAtt': [Match.stringLikeRegexp('^ServerTasks'), 'StreamArn'] },
    DestinationConfig: {
      OnFailure: { Destination: { 'Fn::GetAtt': [Match.stringLikeRegexp('^ServerTaskEventsDeadLetters'), 'Arn'] } },
    },
  });
});

test('only task records and probes reach it: other items have no status, deleted ones no image', () => {
  const [mapping] = Object.values(template.findResources('AWS::Lambda::EventSourceMapping'));
  expect(
    mapping?.Properties.FilterCriteria.Filters.map(({ Pattern }: { Pattern: string }) => JSON.parse(Pattern)),
  ).toEqual([
    {
      dynamodb: {
        NewImage: { status: { S: ['working', 'waiting', 'input_required', 'completed', 'failed', 'cancelled'] } },
      },
    },
    { dynamodb: { Keys: { owner: { S: ['#probe'] } } } },
  ]);
});

test('a bus of another account is named by its ARN', () => {
  const stack = new Stack(new App(), 'S');
  const arn = 'arn:aws:events:eu-west-1:111122223333:event-bus/central';
  const eventBus = EventBus.fromEventBusArn(stack, 'Bus', arn);
  new McpTaskServer(stack, 'Server', { auth: Auth.anonymous(), eventBus });
  Template.fromStack(stack).hasResourceProperties('AWS::Lambda::Function', {
    Environment: { Variables: Match.objectLike({ EVENT_BUS: arn }) },
  });
});

test('it puts events on the bus of the account, or on the one of the prop, and on no other', () => {
  const buses = [template, templateOf(true)].map((one) => {
    const policies = Object.entries(one.findResources('AWS::IAM::Policy'));
    const [, policy] = policies.find(([id]) => id.startsWith('ServerTaskEvents')) ?? [];
    const statements = policy?.Properties.PolicyDocument.Statement as { Action: unknown; Resource: object }[];
    return JSON.stringify(statements.filter(({ Action }) => Action === 'events:PutEvents').map((it) => it.Resource));
  });
  expect(buses[0]).toContain(':event-bus/default"');
  expect(buses[1]).toMatch(/^\[\{"Fn::GetAtt":\["Bus\w+","Arn"\]\}\]$/);
});

test('it may read each stream of the table: a restored table has another one', () => {
  const [policy] = Object.entries(template.findResources('AWS::IAM::Policy')).filter(([id]) =>
    id.startsWith('ServerTaskEvents'),
  );
  const statements = policy?.[1].Properties.PolicyDocument.Statement as { Action: unknown; Resource: object }[];
  const reads = statements.filter(({ Action }) => JSON.stringify(Action).includes('dynamodb:GetRecords'));
  expect(reads.map(({ Resource }) => Resource)).toEqual([
    { 'Fn::Join': ['', [{ 'Fn::GetAtt': [expect.stringMatching(/^ServerTasks/), 'Arn'] }, '/stream/*']] },
  ]);
});

test('a delay of 15 minutes, a stream that nothing reads, and unpublished changes set off alarms', () => {
  template.hasResourceProperties('AWS::CloudWatch::Alarm', {
    MetricName: 'IteratorAge',
    Threshold: 900_000,
    Period: 900,
    TreatMissingData: 'breaching',
  });
  template.hasResourceProperties('AWS::CloudWatch::Alarm', {
    AlarmDescription: Match.stringLikeRegexp('docs/events.md'),
    MetricName: 'ApproximateNumberOfMessagesVisible',
    Threshold: 1,
  });
});

test('it knows the URL of links only with linkEvents; off is the same template as none', () => {
  const resources = (linkEvents?: boolean) => {
    const stack = new Stack(new App(), 'S');
    new McpTaskServer(stack, 'Server', { auth: Auth.iam(), ...(linkEvents !== undefined && { linkEvents }) });
    return Template.fromStack(stack).toJSON().Resources as Record<string, { Properties: object }>;
  };
  const [without, off, on] = [resources(), resources(false), resources(true)];
  expect(off).toEqual(without);
  const changed = Object.keys(on).filter((id) => JSON.stringify(on[id]) !== JSON.stringify(without[id]));
  expect(changed).toEqual([expect.stringMatching(/^ServerTaskEventsFunction/)]);
  expect(on[changed[0] ?? '']?.Properties).toMatchObject({
    Environment: { Variables: { LINKS_URL: { 'Fn::Join': ['', expect.arrayContaining(['/v1/signals'])] } } },
  });
});
