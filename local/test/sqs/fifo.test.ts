import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../json.ts';
import type { FifoQueueResource } from '../../sqs/fifo/resources.ts';
import { createQueues } from '../../sqs/queues.ts';

const QueueUrl = 'https://sqs.us-east-1.amazonaws.com/000000000000/work.fifo';
const WORK: FifoQueueResource = {
  name: 'work.fifo',
  arn: 'arn:work',
  visibilitySeconds: 30,
  retentionSeconds: 3_600,
  deduplicatesByContent: false,
  deduplicatesByGroup: false,
};

function open(resource: Partial<FifoQueueResource> = {}, dataDir?: string) {
  let time = 1_700_000_000_000;
  const standard = [{ name: 'dead', arn: 'arn:dead' }];
  const queues = createQueues({ standard, fifo: [{ ...WORK, ...resource }] }, { now: () => time, dataDir });
  const call = async (operation: string, input: JsonObject = {}) =>
    (await queues.operations[operation]?.({ QueueUrl, ...input })) as JsonObject;
  const messages = async (input: JsonObject = {}) =>
    ((await call('ReceiveMessage', { MaxNumberOfMessages: 10, ...input })).Messages ?? []) as JsonObject[];
  return {
    call,
    messages,
    pass: (seconds: number) => {
      time += seconds * 1_000;
    },
    send: (MessageBody: string, MessageGroupId = 'g', MessageDeduplicationId = MessageBody) =>
      call('SendMessage', { MessageBody, MessageGroupId, MessageDeduplicationId }),
    bodies: async (input: JsonObject = {}) => (await messages(input)).map(({ Body }) => Body),
    counts: async () => (await call('GetQueueAttributes')).Attributes,
  };
}

test('the messages of a group come in order, and none while one of them is in flight', async () => {
  const { send, bodies, messages, call, pass } = open();
  for (const body of ['a', 'b', 'c']) await send(body);
  await send('x', 'other');
  expect(await bodies({ MaxNumberOfMessages: 1 })).toEqual(['a']);
  expect(await bodies()).toEqual(['x']);
  pass(30);
  const [a, ...others] = await messages();
  expect([a?.Body, ...others.map(({ Body }) => Body)]).toEqual(['a', 'b', 'c', 'x']);
  await call('DeleteMessage', { ReceiptHandle: a?.ReceiptHandle });
  expect(await bodies()).toEqual([]);
  pass(30);
  expect(await bodies()).toEqual(['b', 'c', 'x']);
});

test('a message stays invisible as long as its consumer wants, and its group waits', async () => {
  const { send, messages, bodies, call, pass, counts } = open();
  await send('a');
  await send('b');
  const [a] = await messages({ MaxNumberOfMessages: 1 });
  const change = (VisibilityTimeout: number) =>
    call('ChangeMessageVisibility', { ReceiptHandle: a?.ReceiptHandle, VisibilityTimeout });
  await change(900);
  pass(899);
  expect([await bodies(), await counts()]).toEqual([
    [],
    { ApproximateNumberOfMessages: '1', ApproximateNumberOfMessagesNotVisible: '1' },
  ]);
  await expect(change(43_200)).rejects.toThrow('Total VisibilityTimeout for the message is beyond the limit');
  await change(0);
  const [again] = await messages({ MaxNumberOfMessages: 1, AttributeNames: ['All'] });
  expect(again?.Attributes).toEqual({
    ApproximateReceiveCount: '2',
    SentTimestamp: '1700000000000',
    ApproximateFirstReceiveTimestamp: '1700000000000',
    SequenceNumber: '00000000000000000001',
    MessageGroupId: 'g',
    MessageDeduplicationId: 'a',
    SenderId: expect.any(String),
  });
  expect(again?.ReceiptHandle).not.toBe(a?.ReceiptHandle);
});

test('a deduplication id counts for 5 minutes, also after the message is deleted', async () => {
  const { send, messages, bodies, call, pass } = open();
  const first = await send('a');
  const [received] = await messages();
  await call('DeleteMessage', { ReceiptHandle: received?.ReceiptHandle });
  pass(299);
  expect(await send('a', 'other')).toMatchObject({ MessageId: first.MessageId, SequenceNumber: first.SequenceNumber });
  expect(await bodies()).toEqual([]);
  pass(1);
  expect((await send('a')).MessageId).not.toBe(first.MessageId);
  expect(await bodies()).toEqual(['a']);
});

test('the scope of a deduplication id is a group, and the body is the id, if the queue says so', async () => {
  const { call, bodies } = open({ deduplicatesByContent: true, deduplicatesByGroup: true });
  for (const MessageGroupId of ['g', 'g', 'h']) await call('SendMessage', { MessageBody: 'a', MessageGroupId });
  expect(await bodies()).toEqual(['a', 'a']);
});

test('of a batch, each message is taken or refused by itself', async () => {
  const { call, bodies } = open();
  const entry = (Id: string, more = {}) => ({
    Id,
    MessageBody: Id,
    MessageGroupId: 'g',
    MessageDeduplicationId: Id,
    ...more,
  });
  const Entries = [
    entry('a'),
    entry('b', { MessageGroupId: undefined }),
    entry('c'),
    entry('d', { MessageDeduplicationId: 'a' }),
  ];
  const answer = await call('SendMessageBatch', { Entries });
  expect(answer).toMatchObject({
    Successful: [{ Id: 'a' }, { Id: 'c', SequenceNumber: expect.any(String) }, { Id: 'd' }],
    Failed: [{ Id: 'b', SenderFault: true, Code: 'MissingParameter' }],
  });
  expect(await bodies()).toEqual(['a', 'c']);
});

test('a message is gone after its retention', async () => {
  const { send, bodies, pass } = open();
  await send('a');
  pass(3_600);
  await send('b');
  pass(1);
  expect(await bodies()).toEqual(['b']);
});

test('messages, and that they are in flight, outlive the process if there is a folder', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'mcp-task-server-test-'));
  const before = open({}, dataDir);
  await before.send('a');
  await before.send('x', 'other');
  await before.messages({ MaxNumberOfMessages: 1 });
  const after = open({}, dataDir);
  expect(await after.bodies()).toEqual(['x']);
  await after.send('a');
  after.pass(30);
  expect(await after.bodies()).toEqual(['a', 'x']);
});

const message = { MessageBody: 'a', MessageGroupId: 'g', MessageDeduplicationId: 'a' };
const handle = { ReceiptHandle: '00000000-0000-0000-0000-000000000000' };
test.each([
  ['SendMessage', { ...message, MessageGroupId: undefined }, 'MissingParameter', 'MessageGroupId'],
  ['SendMessage', { ...message, MessageDeduplicationId: undefined }, 'InvalidParameterValue', 'ContentBased'],
  ['SendMessage', { ...message, DelaySeconds: 0 }, 'InvalidParameterValue', 'not valid for this queue type'],
  ['SendMessage', { ...message, MessageGroupId: 'a b' }, 'InvalidParameterValue', 'punctuation'],
  ['SendMessage', { ...message, MessageDeduplicationId: 'x'.repeat(129) }, 'InvalidParameterValue', '128'],
  ['SendMessage', { ...message, MessageBody: 'x'.repeat(262_145) }, 'InvalidParameterValue', 'shorter'],
  ['SendMessage', { ...message, MessageSystemAttributes: {} }, 'UnsupportedOperation', 'MessageSystemAttributes'],
  ['SendMessage', { ...message, QueueUrl: 'https://none/0/none.fifo' }, 'QueueDoesNotExist', 'not exist'],
  ['SendMessage', { ...message, QueueUrl: 'https://none/0/dead' }, 'UnsupportedOperation', 'MessageGroupId'],
  ['SendMessageBatch', { Entries: [] }, 'EmptyBatchRequest', 'at least one'],
  ['SendMessageBatch', { Entries: Array(11).fill({}) }, 'TooManyEntriesInBatchRequest', '11'],
  ['SendMessageBatch', { Entries: [{ Id: 'a b' }] }, 'InvalidBatchEntryId', 'alphanumeric'],
  ['SendMessageBatch', { Entries: [{ Id: 'a' }, { Id: 'a' }] }, 'BatchEntryIdsNotDistinct', 'same Id'],
  ['SendMessageBatch', { Entries: [{ Id: 'a', MessageBody: 'x'.repeat(262_145) }] }, 'BatchRequestTooLong', '262144'],
  ['ReceiveMessage', { QueueUrl: 'https://none/0/dead' }, 'UnsupportedOperation', 'standard'],
  ['ReceiveMessage', { MaxNumberOfMessages: 11 }, 'InvalidParameterValue', 'between 1 and 10'],
  ['ReceiveMessage', { MaxNumberOfMessages: 0 }, 'InvalidParameterValue', 'between 1 and 10'],
  ['ReceiveMessage', { VisibilityTimeout: 43_201 }, 'InvalidParameterValue', '43200'],
  ['ReceiveMessage', { WaitTimeSeconds: 1 }, 'UnsupportedOperation', 'WaitTimeSeconds'],
  ['DeleteMessage', {}, 'MissingParameter', 'ReceiptHandle'],
  ['DeleteMessage', { ReceiptHandle: 'no' }, 'ReceiptHandleIsInvalid', 'handle'],
  ['ChangeMessageVisibility', handle, 'MissingParameter', 'VisibilityTimeout'],
  ['ChangeMessageVisibility', { ...handle, VisibilityTimeout: -1 }, 'InvalidParameterValue', '43200'],
  ['ChangeMessageVisibility', { ...handle, VisibilityTimeout: 1 }, 'InvalidParameterValue', 'does not exist'],
])('%s with %o is refused with %s', async (operation, input, type, text) => {
  await expect(open().call(operation, input)).rejects.toMatchObject({ type, message: expect.stringContaining(text) });
});

test('the receipt of a message that is visible again deletes nothing and changes nothing', async () => {
  const { send, messages, call, pass, bodies } = open();
  await send('a');
  const [{ ReceiptHandle } = {}] = await messages();
  pass(30);
  await expect(call('DeleteMessage', { ReceiptHandle })).rejects.toThrow('The receipt handle has expired.');
  const change = call('ChangeMessageVisibility', { ReceiptHandle, VisibilityTimeout: 5 });
  await expect(change).rejects.toMatchObject({ type: 'MessageNotInflight' });
  expect(await bodies()).toEqual(['a']);
  expect(await call('DeleteMessage', { ReceiptHandle })).toEqual({});
  pass(30);
  expect(await bodies()).toEqual(['a']);
});
