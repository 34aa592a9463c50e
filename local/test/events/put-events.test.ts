import { EventBridgeClient, PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge';
import { afterEach, describe, expect, test } from 'vitest';
import { type Cloud, type CloudOptions, startCloud } from '../../cloud.ts';
import { clientConfig, functionResource, writeAssembly } from '../fixture.ts';

const arnOf = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] });
const rule = (Target: string, pattern: object, more: object = {}) => ({
  Type: 'AWS::Events::Rule',
  Properties: { EventPattern: pattern, Targets: [{ Arn: arnOf(Target), Id: 'T' }], ...more },
});
const PutterPolicy = {
  Type: 'AWS::IAM::Policy',
  Properties: {
    PolicyDocument: {
      Statement: {
        Effect: 'Allow',
        Action: 'events:PutEvents',
        Resource: arnOf('Bus'),
        Condition: { StringEquals: { 'events:source': 'shop' } },
      },
    },
    Roles: [{ Ref: 'PutterRole' }],
  },
};
const trust = { Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service: 'lambda.amazonaws.com' } };
const mayReach = (Rule: string) => ({
  Type: 'AWS::Lambda::Permission',
  Properties: {
    Action: 'lambda:InvokeFunction',
    FunctionName: arnOf('Fn'),
    Principal: 'events.amazonaws.com',
    SourceArn: arnOf(Rule),
  },
});
const send = { Effect: 'Allow', Action: 'sqs:SendMessage', Principal: { Service: 'events.amazonaws.com' } };
const resources = {
  Bus: { Type: 'AWS::Events::EventBus', Properties: { Name: 'orders' } },
  Fn: functionResource('code'),
  Queue: { Type: 'AWS::SQS::Queue', Properties: { QueueName: 'all' } },
  QueuePolicy: {
    Type: 'AWS::SQS::QueuePolicy',
    Properties: {
      Queues: [{ Ref: 'Queue' }],
      PolicyDocument: {
        Statement: {
          ...send,
          Resource: arnOf('Queue'),
          Condition: { ArnEquals: { 'aws:SourceArn': 'arn:aws:events:*:*:rule/orders/*' } },
        },
      },
    },
  },
  OnDefault: rule('Fn', { source: ['shop'], detail: { total: [20] } }),
  OnDefaultMay: mayReach('OnDefault'),
  All: rule('Queue', { 'detail-type': [{ prefix: '' }] }, { EventBusName: { Ref: 'Bus' } }),
  PutterRole: { Type: 'AWS::IAM::Role', Properties: { AssumeRolePolicyDocument: { Statement: trust } } },
  PutterPolicy,
  Putter: functionResource('code', { Role: arnOf('PutterRole') }),
};
const assets = { code: 'export const handler = async (event) => { console.log(JSON.stringify(event)); };' };
const assembly = writeAssembly({ resources, assets });

let cloud: Cloud | undefined;
afterEach(() => cloud?.stop());

async function start(options: Partial<CloudOptions> = {}, caller = 'test') {
  const lines: string[] = [];
  const notices: string[] = [];
  const onLog: CloudOptions['onLog'] = (source, line) => (source === 'cloud' ? notices : lines).push(line);
  const running = await startCloud({ assembly, timeScale: 100, onLog, now: () => 1_700_000_000_500, ...options });
  cloud = running;
  const client = new EventBridgeClient({ ...clientConfig(running, caller), maxAttempts: 1 });
  const put = (...Entries: PutEventsRequestEntry[]) => client.send(new PutEventsCommand({ Entries }));
  return { cloud: running, put, lines, notices };
}
const entry = (more: PutEventsRequestEntry = {}): PutEventsRequestEntry => ({
  Source: 'shop',
  DetailType: 'Order Placed',
  Detail: '{"total":20}',
  ...more,
});

test('an event reaches the function of a rule that matches it', async () => {
  const { cloud, put, lines } = await start();
  const answer = await put(entry({ Resources: ['order-1'] }), entry({ Detail: '{"total":5}' }));
  expect(answer).toMatchObject({ FailedEntryCount: 0, Entries: [{ EventId: expect.any(String) }, {}] });
  await expect.poll(() => lines).toHaveLength(1);
  const event = {
    version: '0',
    id: answer.Entries?.[0]?.EventId,
    'detail-type': 'Order Placed',
    source: 'shop',
    account: '000000000000',
    time: '2023-11-14T22:13:20Z',
    region: 'us-east-1',
    resources: ['order-1'],
    detail: { total: 20 },
  };
  expect(JSON.parse(lines[0] ?? '')).toEqual(event);
  expect(cloud.events.accepted().map(({ bus, event: { id } }) => [bus, id])).toEqual([
    ['default', event.id],
    ['default', answer.Entries?.[1]?.EventId],
  ]);
});

test('a rule of another bus gets the events of that bus alone, in its queue', async () => {
  const { cloud, put } = await start();
  await put(entry({ EventBusName: 'orders', Time: new Date(7_000) }), entry());
  await put(entry({ EventBusName: 'arn:aws:events:us-east-1:000000000000:event-bus/orders' }));
  await expect.poll(() => cloud.queues.get('all')).toHaveLength(2);
  expect(JSON.parse(cloud.queues.get('all')?.[0]?.body ?? '')).toMatchObject({ time: '1970-01-01T00:00:07Z' });
});

test('without a policy of the queue nothing is sent to it', async () => {
  const { QueuePolicy: _, ...others } = resources;
  const { cloud, put, notices } = await start({ assembly: writeAssembly({ resources: others, assets }) });
  await put(entry({ EventBusName: 'orders' }));
  await expect.poll(() => notices.join()).toContain('EventBridge may not sqs:SendMessage');
  expect(cloud.queues.get('all')).toEqual([]);
});

test('an event for a bus that does not exist is dropped, and only the log says so', async () => {
  const { cloud, put, notices } = await start();
  expect(await put(entry({ EventBusName: 'none' }))).toMatchObject({ FailedEntryCount: 0 });
  expect(cloud.events.accepted()).toEqual([]);
  expect(notices).toContain('EventBridge dropped an event: there is no event bus none');
});

test('of many entries only the valid ones are taken', async () => {
  const { cloud, put } = await start();
  const { Source: _, ...withoutSource } = entry();
  const answer = await put(
    withoutSource,
    entry({ Detail: '{' }),
    entry({ Detail: '[]' }),
    entry({ DetailType: 'x'.repeat(129) }),
    entry({ Source: 'aws.states' }),
    entry(),
  );
  expect(answer.FailedEntryCount).toBe(5);
  expect(answer.Entries?.map(({ ErrorCode }) => ErrorCode)).toEqual([
    'InvalidArgument',
    'MalformedDetail',
    'MalformedDetail',
    'InvalidArgument',
    'NotAuthorizedForSourceException',
    undefined,
  ]);
  expect(cloud.events.accepted()).toHaveLength(1);
});

test('a request with too many entries, none, or too many bytes is refused', async () => {
  const { cloud, put } = await start();
  const bytes = (count: number) => entry({ Detail: JSON.stringify('x'.repeat(count)).replace(/^(.*)$/, '{"a":$1}') });
  const fixed = 'shop'.length + 'Order Placed'.length + '{"a":""}'.length;
  await expect(put(...Array.from({ length: 11 }, () => entry()))).rejects.toThrow('less than or equal to 10');
  await expect(put()).rejects.toThrow('greater than or equal to 1');
  await expect(put(bytes(262_144 - fixed + 1))).rejects.toThrow('over the limit');
  expect(await put(bytes(262_144 - fixed))).toMatchObject({ FailedEntryCount: 0 });
  expect(cloud.events.accepted()).toHaveLength(1);
});

describe('a function with a right to one bus and one source', () => {
  test('may put these events there', async () => {
    const { cloud, put } = await start({}, 'Putter');
    expect(await put(entry({ EventBusName: 'orders' }))).toMatchObject({ FailedEntryCount: 0 });
    expect(cloud.permissions.unused().map(({ action }) => action)).not.toContain('events:PutEvents');
  });

  test.each([
    ['on another bus', entry()],
    ['from another source', entry({ EventBusName: 'orders', Source: 'bank' })],
  ])('may not put events %s', async (_name, wrong) => {
    const { cloud, put } = await start({}, 'Putter');
    await expect(put(entry({ EventBusName: 'orders' }), wrong)).rejects.toThrow(
      /is not authorized to perform: events:P/,
    );
    expect(cloud.events.accepted()).toEqual([]);
  });
});

describe('a fault', () => {
  const LOST = { service: 'events', operation: 'PutEvents', do: 'drop' } as const;
  test.each([
    ['before', 0],
    ['after', 1],
  ] as const)('loses a call of PutEvents: %s', async (at, taken) => {
    const { cloud, put } = await start();
    cloud.faults.add({ ...LOST, at });
    await expect(put(entry())).rejects.toThrow();
    expect(cloud.events.accepted()).toHaveLength(taken);
  });

  test('does not lose an event on its way: EventBridge tries again', async () => {
    const { cloud, put, lines } = await start();
    const lost = cloud.faults.add({ service: 'events', operation: 'Deliver', do: 'drop', times: 2 });
    await put(entry());
    await expect.poll(() => lines).toHaveLength(1);
    expect(lost.hits).toBe(2);
  });
});
