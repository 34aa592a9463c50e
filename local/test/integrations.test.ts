import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AwsError } from '../aws-error.ts';
import { type Cloud, startCloud } from '../cloud.ts';
import type { InvokeResult, Lambda } from '../lambda/index.ts';
import { createIntegrations } from '../step-functions/integrations/integrations.ts';
import { createCallLog } from '../wire/call-log.ts';
import { dynamoDbAt, tableResource, writeAssembly } from './fixture.ts';

const INVOKE = 'arn:aws:states:::lambda:invoke';
const UPDATE = 'arn:aws:states:::dynamodb:updateItem';

const calls = createCallLog(100);
let sent: string[] = [];

function invoke(resource: string, args: object, answer: Partial<InvokeResult> | Error = {}, endpoint = 'http://none') {
  const lambda: Pick<Lambda, 'invoke'> = {
    async invoke(_name, payload) {
      sent.push(payload);
      if (answer instanceof Error) throw answer;
      return { statusCode: 200, payload: '{"done":true}', executedVersion: '$LATEST', ...answer };
    },
  };
  const options = {
    lambda,
    endpoint,
    send: dynamoDbAt(endpoint),
    region: 'us-east-1',
    calls,
    now: Date.now,
    accessKeyOfRole: () => 'TheRole',
    closed: async () => {},
  };
  const integration = createIntegrations(options)[resource];
  const { signal } = new AbortController();
  const rest = {
    executionArn: 'e',
    stateMachineArn: 'm',
    roleArn: 'r',
    id: 'i',
    lost: false,
    begins: () => undefined,
    signal,
  };
  return integration?.({ resource, arguments: args, ...rest });
}
const named = (error: string) => expect.objectContaining({ error });
const failed = { functionError: 'Unhandled', payload: '{"errorType":"Oops","errorMessage":"no"}' } as const;

describe('lambda:invoke', () => {
  test('reads the payload', async () => {
    sent = [];
    const output = await invoke(INVOKE, { FunctionName: 'f', Payload: { a: 1 } });
    expect(output).toMatchObject({ ExecutedVersion: '$LATEST', StatusCode: 200, Payload: { done: true } });
    await invoke(INVOKE, { FunctionName: 'f', Payload: 'text' });
    await invoke(INVOKE, { FunctionName: 'f' });
    expect(sent).toEqual(['{"a":1}', '"text"', '{}']);
  });

  test('brings the metadata of the HTTP answer, which count towards 256 KiB', async () => {
    const { Payload, ...rest } = (await invoke(INVOKE, { FunctionName: 'f' })) as Record<string, unknown>;
    expect(Object.keys(rest)).toEqual(['ExecutedVersion', 'SdkHttpMetadata', 'SdkResponseMetadata', 'StatusCode']);
    expect(Buffer.byteLength(JSON.stringify(rest))).toBeGreaterThan(900);
  });

  test('fails with the error of the function', async () => {
    const run = invoke(INVOKE, { FunctionName: 'f' }, failed);
    await expect(run).rejects.toThrow(expect.objectContaining({ error: 'Oops', detail: failed.payload }));
    const nameless = invoke(INVOKE, { FunctionName: 'f' }, { ...failed, payload: 'null' });
    await expect(nameless).rejects.toThrow(named('Lambda.Unknown'));
  });
});

test('lambda:invoke names a refusal of Lambda, and is recorded', async () => {
  const mark = calls.mark();
  for (const type of ['TooManyRequestsException', 'ResourceNotFoundException']) {
    const refused = invoke(INVOKE, { FunctionName: 'f' }, new AwsError(type, 'no', 429));
    await expect(refused).rejects.toThrow(named(`Lambda.${type}`));
  }
  const unknown = invoke(INVOKE, { FunctionName: 'f', ClientContext: 'x' });
  await expect(unknown).rejects.toThrow('does not know the argument ClientContext');
  expect(calls.since(mark).map(({ caller, error }) => [caller, error])).toEqual([
    ['TheRole', 'TooManyRequestsException'],
    ['TheRole', 'ResourceNotFoundException'],
  ]);
});

describe('dynamodb:updateItem', () => {
  let cloud: Cloud;
  beforeAll(async () => {
    const assembly = writeAssembly({ resources: { Table: tableResource() } });
    cloud = await startCloud({ assembly, recordCalls: true });
  });
  afterAll(() => cloud.stop());
  const write = (args: object) => {
    const Key = { owner: { S: 'o' }, id: { S: 'i' } };
    const update = { UpdateExpression: 'SET x = :x', ExpressionAttributeValues: { ':x': { S: 'y' } } };
    return invoke(UPDATE, { TableName: 'things', Key, ...update, ...args }, {}, cloud.endpoint);
  };

  test('writes as the role of the machine', async () => {
    const mark = cloud.calls.mark();
    expect(await write({ ReturnValues: 'ALL_NEW' })).toMatchObject({ Attributes: { x: { S: 'y' } } });
    expect(cloud.calls.since(mark)).toMatchObject([{ caller: 'TheRole', operation: 'UpdateItem', status: 200 }]);
  });

  test('names its errors as Step Functions does', async () => {
    const lost = write({ ConditionExpression: 'attribute_exists(nothing)' });
    await expect(lost).rejects.toThrow(named('DynamoDB.ConditionalCheckFailedException'));
    await expect(write({ TableName: 'missing' })).rejects.toThrow(named('DynamoDB.ResourceNotFoundException'));
    await expect(write({ UpdateExpression: 'nonsense' })).rejects.toThrow(named('DynamoDB.AmazonDynamoDBException'));
    const unreachable = invoke(UPDATE, { TableName: 'things', Key: {} }, {}, 'http://127.0.0.1:1');
    await expect(unreachable).rejects.toThrow(named('DynamoDB.SdkClientException'));
  });
});
