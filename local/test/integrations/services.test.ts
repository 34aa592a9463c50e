import { SendTaskSuccessCommand, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cloud, startCloud } from '../../cloud.ts';
import { adminRole, clientConfig, functionResource, tableResource, writeAssembly } from '../fixture.ts';
import { allow, machine, role, task } from '../iam/stack.ts';

const QUEUE = 'https://sqs.us-east-1.amazonaws.com/000000000000/Jobs';
const FUNCTION = 'arn:aws:lambda:us-east-1:000000000000:function:Echo';
const Key = { owner: { S: 'o' }, id: { S: '{% $states.input.id %}' } };
const things = (operation: string, more: object) =>
  task(`arn:aws:states:::dynamodb:${operation}`, { TableName: 'things', ...more });
const send = (more: object, ending = '') =>
  task(`arn:aws:states:::sqs:sendMessage${ending}`, { QueueUrl: QUEUE, ...more });
const TOPIC = 'arn:aws:sns:us-east-1:000000000000:Sales';
const publish = (more: object, ending = '') =>
  task(`arn:aws:states:::sns:publish${ending}`, { TopicArn: TOPIC, ...more });
const attribute = (StringValue: string) => ({ DataType: 'String', StringValue });
const put = (entry: object) =>
  task('arn:aws:states:::events:putEvents', {
    Entries: [{ Source: 'shop', DetailType: 'sold', Detail: '{% $states.input %}', ...entry }],
  });
const invoke = (more: object) => task('arn:aws:states:::lambda:invoke', { FunctionName: 'Echo', ...more });

const MACHINES: Record<string, object> = {
  Put: things('putItem', { Item: { ...Key, price: { N: '7' } }, ConditionExpression: 'attribute_not_exists(id)' }),
  Get: things('getItem', { Key, ProjectionExpression: 'price', ConsistentRead: true }),
  Delete: things('deleteItem', { Key, ReturnValues: 'ALL_OLD' }),
  Elsewhere: things('getItem', { Key, TableName: 'missing' }),
  Odd: things('getItem', { Key, Limit: 1 }),
  Send: send({ MessageBody: '{% $states.input %}', DelaySeconds: 900 }),
  SendText: send({ MessageBody: '{% $states.input.text %}' }),
  SendLate: send({ MessageBody: 'x', DelaySeconds: 901 }),
  SendNothing: send({}),
  SendFifo: send({ MessageBody: 'x', MessageGroupId: 'g' }),
  SendNowhere: send({ MessageBody: 'x', QueueUrl: `${QUEUE}2` }),
  Ask: send({ MessageBody: { token: '{% $states.context.Task.Token %}' } }, '.waitForTaskToken'),
  Publish: publish({ Message: '{% $states.input %}', Subject: 'Sold', MessageAttributes: { shop: attribute('a') } }),
  PublishText: publish({ Message: '{% $states.input.text %}' }),
  PublishNothing: publish({}),
  PublishSubject: publish({ Message: 'x', Subject: 'a\nb' }),
  PublishEach: publish({ Message: { default: 'all', sqs: 'one' }, MessageStructure: 'json' }),
  PublishNoDefault: publish({ Message: { sqs: 'one' }, MessageStructure: 'json' }),
  PublishOdd: publish({ Message: 'x', MessageAttributes: { a: { DataType: 'Binary', BinaryValue: 'eA==' } } }),
  PublishPhone: publish({ Message: 'x', PhoneNumber: '+15550100' }),
  PublishNowhere: publish({ Message: 'x', TopicArn: `${TOPIC}2` }),
  AskTopic: publish({ Message: { token: '{% $states.context.Task.Token %}' } }, '.waitForTaskToken'),
  Event: put({}),
  EventAtTime: put({ Time: '2026-01-01T00:00:00Z', Resources: ['r'] }),
  EventOfAws: put({ Source: 'aws.shop' }),
  Direct: task(FUNCTION, { n: 1 }),
  Later: invoke({ InvocationType: 'Event', Payload: { n: 2 } }),
  Alias: invoke({ Qualifier: 'live' }),
  Latest: invoke({ Qualifier: '$LATEST', Payload: { n: 3 } }),
  Start: task('arn:aws:states:::states:startExecution', {
    StateMachineArn: 'arn:aws:states:us-east-1:000000000000:stateMachine:Never',
    Name: 'child',
  }),
  Never: { Type: 'Wait', Seconds: 10_000, End: true },
};

let assembly = '';
let cloud: Cloud;
beforeAll(async () => {
  const named = Object.entries(MACHINES).map(([name, state]) => {
    const { Properties, ...resource } = machine('MachineRole', state) as { Properties: object };
    return [name, { ...resource, Properties: { ...Properties, StateMachineName: name } }];
  });
  assembly = writeAssembly({
    resources: {
      Things: tableResource(),
      Jobs: { Type: 'AWS::SQS::Queue', Properties: { QueueName: 'Jobs' } },
      Sales: { Type: 'AWS::SNS::Topic', Properties: { TopicName: 'Sales' } },
      Echo: functionResource('code', { FunctionName: 'Echo', Role: { 'Fn::GetAtt': ['FunctionRole', 'Arn'] } }),
      FunctionRole: adminRole('lambda'),
      MachineRole: adminRole('states'),
      PoorRole: role('states', [allow('dynamodb:GetItem', { 'Fn::GetAtt': ['Things', 'Arn'] })]),
      ...Object.fromEntries(named),
      PoorSend: machine('PoorRole', MACHINES.SendText ?? {}),
      PoorPublish: machine('PoorRole', MACHINES.PublishText ?? {}),
      PoorEvent: machine('PoorRole', MACHINES.Event ?? {}),
      PoorPut: machine('PoorRole', MACHINES.Put ?? {}),
    },
    assets: { code: 'export const handler = async (event) => ({ echo: event });' },
  });
  cloud = await startCloud({ assembly, recordCalls: true });
});
afterAll(() => cloud?.stop());

const stateMachineArn = (name: string) => `arn:aws:states:us-east-1:000000000000:stateMachine:${name}`;
async function run(name: string, input: unknown = {}) {
  const sfn = new SFNClient(clientConfig(cloud));
  const started = { stateMachineArn: stateMachineArn(name), input: JSON.stringify(input) };
  const { executionArn = '' } = await sfn.send(new StartExecutionCommand(started));
  await cloud.stepFunctions.closed(executionArn);
  const described = await cloud.stepFunctions.operations.DescribeExecution?.({ executionArn });
  const { status, output, error, cause } = described as Record<string, string | undefined>;
  return { executionArn, status, error, cause, output: output === undefined ? undefined : JSON.parse(output) };
}
const messages = () => cloud.queues.get('Jobs') ?? [];

describe('dynamodb', () => {
  test('puts, gets and deletes an item, with the metadata of the answer', async () => {
    expect((await run('Put', { id: 'a' })).output).toMatchObject({ SdkHttpMetadata: { HttpStatusCode: 200 } });
    const read = (await run('Get', { id: 'a' })).output;
    expect(read).toMatchObject({ Item: { price: { N: '7' } } });
    expect(Buffer.byteLength(JSON.stringify(read))).toBeGreaterThan(800);
    expect((await run('Delete', { id: 'a' })).output).toMatchObject({ Attributes: { id: { S: 'a' } } });
    expect((await run('Get', { id: 'a' })).output).not.toHaveProperty('Item');
  });

  test.each([
    ['Put', 'DynamoDB.ConditionalCheckFailedException'],
    ['Elsewhere', 'DynamoDB.ResourceNotFoundException'],
    ['Odd', 'States.Runtime'],
  ])('%s fails as %s', async (name, error) => {
    await run('Put', { id: 'b' });
    expect(await run(name, { id: 'b' })).toMatchObject({ status: 'FAILED', error });
  });
});

describe('sns:publish', () => {
  const published = () => cloud.topics.get('Sales') ?? [];

  test('publishes JSON or a text, with its attributes', async () => {
    expect((await run('Publish', { n: 1 })).output).toMatchObject({ MessageId: expect.any(String) });
    await run('PublishText', { text: 'plain' });
    await run('PublishEach');
    expect(published().map(({ sentAt: _, ...message }) => message)).toEqual([
      { message: '{"n":1}', subject: 'Sold', attributes: { shop: 'a' } },
      { message: 'plain', attributes: {} },
      { message: '{"default":"all","sqs":"one"}', attributes: {} },
    ]);
  });

  test.each([
    ['PublishNothing', 'SNS.InvalidParameterException', 'Empty message'],
    ['PublishSubject', 'SNS.InvalidParameterException', 'Invalid parameter: Subject'],
    ['PublishNoDefault', 'SNS.InvalidParameterException', 'No default entry in JSON message body'],
    ['PublishOdd', 'SNS.InvalidParameterException', 'does not know the value of the message attribute a'],
    ['PublishPhone', 'States.Runtime', 'does not know the argument PhoneNumber'],
    ['PublishNowhere', 'SNS.NotFoundException', 'Topic does not exist'],
  ])('%s fails as %s', async (name, error, cause) => {
    const before = published().length;
    expect(await run(name)).toMatchObject({ status: 'FAILED', error, cause: expect.stringContaining(cause) });
    expect(published()).toHaveLength(before);
  });

  test('waits for the token that the message carries', async () => {
    const asked = run('AskTopic');
    const before = published().length;
    await expect.poll(() => published().length).toBe(before + 1);
    const { token: taskToken } = JSON.parse(published().at(-1)?.message ?? '') as { token: string };
    const sfn = new SFNClient(clientConfig(cloud));
    await sfn.send(new SendTaskSuccessCommand({ taskToken, output: '"yes"' }));
    expect((await asked).output).toBe('yes');
  });

  test('takes the form that AWS clients send', async () => {
    const form = new URLSearchParams({ Action: 'Publish', Version: '2010-03-31', TopicArn: TOPIC, Message: 'a & b' });
    for (const [name, value] of Object.entries({
      Name: 'shop',
      'Value.DataType': 'String',
      'Value.StringValue': 'b',
    })) {
      form.set(`MessageAttributes.entry.1.${name}`, value);
    }
    const authorization = 'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/sns/aws4_request, Signature=x';
    const send = () => fetch(cloud.endpoint, { method: 'POST', body: form, headers: { authorization } });
    expect(await (await send()).text()).toMatch(/<MessageId>[\w-]{36}<\/MessageId>/);
    expect(published().at(-1)).toMatchObject({ message: 'a & b', attributes: { shop: 'b' } });
    form.set('TopicArn', `${TOPIC}2`);
    const refused = await send();
    expect([refused.status, await refused.text()]).toEqual([404, expect.stringContaining('<Code>NotFound</Code>')]);
  });

  test('a FIFO topic is refused by name', async () => {
    const Sales = { Type: 'AWS::SNS::Topic', Properties: { FifoTopic: true } };
    await expect(startCloud({ assembly: writeAssembly({ resources: { Sales } }) })).rejects.toThrow('FifoTopic true');
  });
});

describe('sqs:sendMessage', () => {
  test('sends JSON or a text, later if it says so', async () => {
    const sent = await run('Send', { n: 1 });
    expect(sent.output).toMatchObject({ MD5OfMessageBody: expect.any(String), MessageId: expect.any(String) });
    await run('SendText', { text: 'plain' });
    expect(
      messages()
        .slice(-2)
        .map(({ body }) => body),
    ).toEqual(['{"n":1}', 'plain']);
    const [late, now] = messages().slice(-2);
    expect((late?.sentAt ?? 0) - (now?.sentAt ?? 0)).toBeGreaterThan(800_000);
  });

  test.each([
    ['SendLate', 'SQS.AmazonSQSException', 'DelaySeconds must be >= 0 and <= 900'],
    ['SendNothing', 'SQS.AmazonSQSException', 'The request must contain the parameter MessageBody.'],
    ['SendFifo', 'States.Runtime', 'does not know the argument MessageGroupId'],
    ['SendNowhere', 'SQS.QueueDoesNotExistException', 'The specified queue does not exist.'],
  ])('%s fails as %s', async (name, error, cause) => {
    expect(await run(name)).toMatchObject({ status: 'FAILED', error, cause: expect.stringContaining(cause) });
  });

  test('a message without text, with a wrong character, or of more than 256 KiB, is refused', async () => {
    for (const text of ['', 'a\u0000b']) expect(await run('SendText', { text })).toMatchObject({ status: 'FAILED' });
    expect((await run('SendText', { text: 'a\u0000b' })).error).toBe('SQS.InvalidMessageContentsException');
    expect((await run('SendText', { text: 'x'.repeat(262_150) }).catch((error) => error)).name).toBe(
      'InvalidExecutionInput',
    );
  });

  test('waits for the token that the message carries', async () => {
    const asked = run('Ask');
    const before = messages().length;
    await expect.poll(() => messages().length).toBe(before + 1);
    const { token: taskToken } = JSON.parse(messages().at(-1)?.body ?? '') as { token: string };
    await new SFNClient(clientConfig(cloud)).send(new SendTaskSuccessCommand({ taskToken, output: '"done"' }));
    expect((await asked).output).toBe('done');
  });
});

describe('events:putEvents', () => {
  test('puts an object as detail, and names the execution and the machine as resources', async () => {
    const { executionArn, output } = await run('Event', { n: 1 });
    expect(output).toMatchObject({ FailedEntryCount: 0, Entries: [{ EventId: expect.any(String) }] });
    expect(cloud.events.accepted().at(-1)?.event).toMatchObject({
      ...{ source: 'shop', 'detail-type': 'sold', detail: { n: 1 } },
      resources: [executionArn, stateMachineArn('Event')],
    });
    await run('EventAtTime');
    const { event } = cloud.events.accepted().at(-1) ?? {};
    expect(event).toMatchObject({
      time: '2026-01-01T00:00:00Z',
      resources: ['r', expect.anything(), expect.anything()],
    });
  });

  test('fails if one entry fails, with the answer as its cause', async () => {
    const { error, cause = '' } = await run('EventOfAws');
    expect(error).toBe('EventBridge.FailedEntry');
    expect(JSON.parse(cause)).toMatchObject({
      FailedEntryCount: 1,
      Entries: [{ ErrorCode: 'NotAuthorizedForSourceException' }],
    });
  });
});

describe('lambda', () => {
  test('the ARN of a function is a Resource: its result is the result of the state', async () => {
    expect((await run('Direct')).output).toEqual({ echo: { n: 1 } });
  });

  test('an event does not wait; $LATEST is the only qualifier', async () => {
    expect((await run('Later')).output).toMatchObject({ StatusCode: 202, Payload: null });
    expect((await run('Latest')).output).toMatchObject({ Payload: { echo: { n: 3 } } });
    expect(await run('Alias')).toMatchObject({
      error: 'States.Runtime',
      cause: expect.stringContaining('Qualifier live'),
    });
  });
});

test('states:startExecution starts another execution and does not wait', async () => {
  expect((await run('Start')).output).toMatchObject({
    ExecutionArn: 'arn:aws:states:us-east-1:000000000000:execution:Never:child',
    StartDate: expect.any(Number),
  });
});

test.each([
  ['Test-PoorSend', 'SQS.AmazonSQSException', 'sqs:SendMessage'],
  ['Test-PoorPublish', 'SNS.AuthorizationErrorException', 'sns:Publish'],
  ['Test-PoorEvent', 'EventBridge.AmazonEventBridgeException', 'events:PutEvents'],
  ['Test-PoorPut', 'DynamoDB.AmazonDynamoDBException', 'dynamodb:PutItem'],
])('%s may not: the role of the machine is checked', async (name, error, action) => {
  const cause = expect.stringMatching(new RegExp(`not authorized to perform: ${action}`));
  expect(await run(name, { id: 'c', text: 't' })).toMatchObject({ error, cause });
});
