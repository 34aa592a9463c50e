import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterEach, expect, test } from 'vitest';
import { type Cloud, type CloudOptions, startCloud } from '../../cloud.ts';
import { failedOf } from '../../event-source/queue/poller.ts';
import { adminRole, clientConfig, functionResource, temporaryDir, writeAssembly } from '../fixture.ts';
import { allow, role } from '../iam/stack.ts';

/** Says what it gets, and fails for bodies that say so: `late` becomes visible again after a minute. */
const CODE = `
const call = (operation, input) => fetch(process.env.AWS_ENDPOINT_URL, {
  method: 'POST',
  headers: {
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': 'AmazonSQS.' + operation,
    authorization: 'AWS4-HMAC-SHA256 Credential=' + process.env.AWS_ACCESS_KEY_ID + '/20260101/us-east-1/sqs/aws4_request',
  },
  body: JSON.stringify(input),
});
export const handler = async (event) => {
  console.log(JSON.stringify(event));
  const batchItemFailures = [];
  for (const { body, messageId, receiptHandle, attributes } of event.Records) {
    if (body === 'late' && attributes.ApproximateReceiveCount === '1') {
      const input = { QueueUrl: process.env.QUEUE, ReceiptHandle: receiptHandle, VisibilityTimeout: 60 };
      const { status } = await call('ChangeMessageVisibility', input);
      if (status !== 200) throw new Error('not changed');
      batchItemFailures.push({ itemIdentifier: messageId });
    }
  }
  return { batchItemFailures };
};`;

const arn = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] });

/** Sends the next number to the queue that it gets its messages from. */
const LOOPS = `
export const handler = async ({ Records: [{ body }] }) => {
  console.log(JSON.stringify({ Records: [{ body }] }));
  const { AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, AWS_SESSION_TOKEN, QUEUE } = process.env;
  const next = String(Number(body) + 1);
  if (Number(next) > 40) return;
  await fetch(AWS_ENDPOINT_URL, {
    method: 'POST',
    headers: {
      authorization: 'AWS4-HMAC-SHA256 Credential=' + AWS_ACCESS_KEY_ID + '/20260101/us-east-1/sqs/aws4_request',
      'x-amz-security-token': AWS_SESSION_TOKEN,
      'x-amz-target': 'AmazonSQS.SendMessage',
    },
    body: JSON.stringify({ QueueUrl: QUEUE, MessageBody: next, MessageGroupId: 'g', MessageDeduplicationId: next }),
  });
};`;

interface Stack {
  readonly code?: string;
  readonly loop?: object;
  readonly queue?: object;
  readonly mapping?: object;
  readonly role?: object;
  readonly resources?: object;
}

function assemblyOf({
  queue = {},
  mapping = {},
  role = adminRole('lambda'),
  resources = {},
  code = CODE,
  loop = {},
}: Stack = {}): string {
  return writeAssembly({
    resources: {
      Work: { Type: 'AWS::SQS::Queue', Properties: { FifoQueue: true, ...queue } },
      Role: role,
      Worker: functionResource('worker', {
        Role: arn('Role'),
        Environment: { Variables: { QUEUE: { Ref: 'Work' } } },
        ...loop,
      }),
      Mapping: {
        Type: 'AWS::Lambda::EventSourceMapping',
        Properties: {
          FunctionName: { Ref: 'Worker' },
          EventSourceArn: arn('Work'),
          BatchSize: 1,
          FunctionResponseTypes: ['ReportBatchItemFailures'],
          ...mapping,
        },
      },
      ...resources,
    },
    assets: { worker: code },
    more: { Outputs: { Url: { Value: { Ref: 'Work' } } } },
  });
}

let cloud: Cloud | undefined;
afterEach(() => cloud?.stop());

async function start(assembly: string, options: Partial<CloudOptions> = {}, hears = (_line: string) => {}) {
  const events: { Records: Record<string, unknown>[] }[] = [];
  let heard = Promise.withResolvers<void>();
  cloud = await startCloud({
    assembly,
    movableClock: true,
    onLog(source, line) {
      hears(line);
      if (!source.endsWith('Worker') || !line.startsWith('{')) return;
      events.push(JSON.parse(line));
      heard.resolve();
      heard = Promise.withResolvers();
    },
    ...options,
  });
  const running = cloud;
  const client = new SQSClient({ ...clientConfig(running), maxAttempts: 1 });
  const bodies = () => events.flatMap(({ Records }) => Records.map(({ body }) => body));
  return {
    cloud: running,
    events,
    bodies,
    send: (MessageBody: string, MessageGroupId: string) =>
      client.send(
        new SendMessageCommand({
          QueueUrl: running.outputs.Url,
          MessageBody,
          MessageGroupId,
          MessageDeduplicationId: `${MessageGroupId}-${MessageBody}`,
        }),
      ),
    /** Resolves once the function got so many messages. */
    async until(count: number): Promise<void> {
      while (bodies().length < count) await heard.promise;
    },
  };
}

test('a function gets the messages of a FIFO queue, in the shape of AWS', async () => {
  const { cloud, send, until, events } = await start(assemblyOf());
  const { MessageId, SequenceNumber } = await send('a', 'g');
  await until(1);
  expect(cloud.outputs.Url).toMatch(/\/Test-Work\.fifo$/);
  expect(events).toStrictEqual([
    {
      Records: [
        {
          messageId: MessageId,
          receiptHandle: expect.any(String),
          body: 'a',
          attributes: {
            ApproximateReceiveCount: '1',
            SentTimestamp: expect.stringMatching(/^\d{13}$/),
            SequenceNumber,
            MessageGroupId: 'g',
            SenderId: expect.any(String),
            MessageDeduplicationId: 'g-a',
            ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/),
          },
          messageAttributes: {},
          md5OfBody: '0cc175b9c0f1b6a831c399e269772661',
          eventSource: 'aws:sqs',
          eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:Test-Work.fifo',
          awsRegion: 'us-east-1',
        },
      ],
    },
  ]);
});

test('a function that sends to its own queue is stopped after 16 messages, as by Lambda', async () => {
  const stopped = Promise.withResolvers<string>();
  const { send, until, bodies, cloud } = await start(assemblyOf({ code: LOOPS }), {}, (line) => {
    if (line.includes('for a loop')) stopped.resolve(line);
  });
  await send('1', 'g');
  await until(16);
  expect(await stopped.promise).toContain('set recursiveLoop to ALLOW');
  expect(bodies()).toHaveLength(16);
  expect(cloud.queues.get('Test-Work.fifo')).toEqual([]);
  // Another chain.
  await send('39', 'h');
  await until(18);
});

test('a function with RecursiveLoop Allow may send to its own queue for ever', async () => {
  const { send, until } = await start(assemblyOf({ code: LOOPS, loop: { RecursiveLoop: 'Allow' } }));
  await send('1', 'g');
  await until(40);
});

test('a message that fails holds back its group, not the others, until its time is over', async () => {
  // A message that was dealt with is deleted long before it would come again.
  const { cloud, send, until, bodies } = await start(assemblyOf({ queue: { VisibilityTimeout: 600 } }));
  const change = { service: 'sqs', operation: 'ChangeMessageVisibility', at: 'after' } as const;
  const changed = cloud.faults.add({ ...change, do: { run: () => {} } });
  await send('late', 'g');
  await send('next', 'g');
  await changed.struck;
  await send('other', 'h');
  await until(2);
  expect(bodies()).toEqual(['late', 'other']);
  cloud.clock.advance(60_000);
  await until(4);
  expect(bodies()).toEqual(['late', 'other', 'late', 'next']);
});

test.each(['before', 'after'] as const)('a message whose delivery is lost %s the call comes again', async (at) => {
  const { cloud, send, until } = await start(assemblyOf());
  const lost = cloud.faults.add({ service: 'sqs', operation: 'Deliver', caller: 'Mapping', at, do: 'drop' });
  await send('a', 'g');
  await until(at === 'before' ? 1 : 2);
  expect(lost.hits).toBe(1);
});

test('a message outlives the process', async () => {
  const [assembly, dataDir] = [assemblyOf(), temporaryDir()];
  const first = await start(assembly, { dataDir });
  await first.send('late', 'g');
  await first.send('next', 'g');
  await first.until(1);
  await first.cloud.stop();
  const { cloud, until, bodies } = await start(assembly, { dataDir });
  cloud.clock.advance(60_000);
  await until(2);
  expect(bodies()).toEqual(['late', 'next']);
});

const mayReceive = role('lambda', [allow(['sqs:ReceiveMessage', 'sqs:DeleteMessage'], '*')]);
const toFifo = { DestinationConfig: { OnFailure: { Destination: arn('Work') } } };
const invokeConfig = {
  Type: 'AWS::Lambda::EventInvokeConfig',
  Properties: { FunctionName: { Ref: 'Worker' }, Qualifier: '$LATEST', ...toFifo },
};
test.each<[string, Stack]>([
  ['may not sqs:GetQueueAttributes', { role: mayReceive }],
  [
    'Queue visibility timeout: 5 seconds is less than Function timeout: 10 seconds',
    { queue: { VisibilityTimeout: 5 } },
  ],
  ['QueueName', { queue: { QueueName: 'work' } }],
  ['FifoThroughputLimit', { queue: { FifoThroughputLimit: 'perMessageGroupId' } }],
  ['DelaySeconds', { queue: { DelaySeconds: 1 } }],
  ['MessageRetentionPeriod', { queue: { MessageRetentionPeriod: 1_209_601 } }],
  ['the property RedrivePolicy', { queue: { RedrivePolicy: {} } }],
  ['BatchSize', { mapping: { BatchSize: 11 } }],
  ['MaximumBatchingWindowInSeconds', { mapping: { MaximumBatchingWindowInSeconds: 1 } }],
  ['StartingPosition', { mapping: { StartingPosition: 'LATEST' } }],
  ['ScalingConfig.MaximumConcurrency', { mapping: { ScalingConfig: { MaximumConcurrency: 1 } } }],
  ['EventSourceArn', { queue: { FifoQueue: false } }],
  ['DestinationConfig.OnFailure.Destination', { resources: { Config: invokeConfig } }],
])('what AWS refuses, or what is not known, does not start: %s', async (text, stack) => {
  await expect(start(assemblyOf(stack))).rejects.toThrow(text);
});

const batch = [{ id: 'a' }, { id: 'b' }];
const OK = { statusCode: 200, executedVersion: '$LATEST' } as const;
test.each([
  ['null', []],
  ['', []],
  ['{}', []],
  ['{"batchItemFailures":[]}', []],
  ['{"batchItemFailures":[{"itemIdentifier":"b"}]}', ['b']],
  ['{"batchItemFailures":[{"itemIdentifier":""}]}', ['a', 'b']],
  ['{"batchItemFailures":[{"itemIdentifier":null}]}', ['a', 'b']],
  ['{"batchItemFailures":[{"id":"b"}]}', ['a', 'b']],
  ['{"batchItemFailures":[{"itemIdentifier":"b"},{"itemIdentifier":"c"}]}', ['a', 'b']],
  ['{"batchItemFailures":"no"}', ['a', 'b']],
  ['"text"', ['a', 'b']],
])('of a batch whose function answers %s, these failed: %o', (payload, failed) => {
  expect([...failedOf({ ...OK, payload }, batch, true)]).toEqual(failed);
  expect([...failedOf({ ...OK, payload }, batch, false)]).toEqual([]);
  expect([...failedOf({ ...OK, payload, functionError: 'Unhandled' }, batch, true)]).toEqual(['a', 'b']);
});
