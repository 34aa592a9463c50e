import {
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetSecretValueCommand, PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { DescribeExecutionCommand, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cloud, startCloud } from '../../cloud.ts';
import { isObject } from '../../json.ts';
import { clientConfig, writeAssembly } from '../fixture.ts';
import { policy, resources, start, update } from './stack.ts';

let cloud: Cloud;
beforeAll(async () => {
  cloud = await start({});
});
afterAll(() => cloud?.stop());

const config = (caller: string) => ({ ...clientConfig(cloud, caller), maxAttempts: 1 });
const dynamoDb = (caller = 'Worker') => new DynamoDBClient(config(caller));
const secrets = (caller = 'Worker') => new SecretsManagerClient(config(caller));
const states = (caller = 'test') => new SFNClient(config(caller));
const arn = (service: string, rest: string) => `arn:aws:${service}:us-east-1:000000000000:${rest}`;
const user = (name: string) => `arn:aws:sts::000000000000:assumed-role/Test-${name}Role/Test-${name}`;

/** The refusal as an AWS client sees it. */
async function refusal(answer: Promise<unknown>): Promise<{ name: unknown; message: unknown; status: unknown }> {
  const error: unknown = await answer.then(
    () => ({}),
    (thrown: unknown) => thrown,
  );
  const metadata = isObject(error) ? error.$metadata : undefined;
  return isObject(error)
    ? { name: error.name, message: error.message, status: isObject(metadata) ? metadata.httpStatusCode : undefined }
    : { name: undefined, message: undefined, status: undefined };
}

describe('a function may do what the policies of its role allow', () => {
  const Key = update.Key;

  test('inline, attached, and managed by the template', async () => {
    await dynamoDb().send(new GetItemCommand(update));
    await dynamoDb().send(new UpdateItemCommand({ ...update, UpdateExpression: 'SET message = :m', ...value('m') }));
    const due = { IndexName: 'due', KeyConditionExpression: 'due = :d', ...value('d') };
    await dynamoDb().send(new QueryCommand({ TableName: 'things', ...due }));
    await secrets().send(new GetSecretValueCommand({ SecretId: 'Test-Key' }));
  });

  test('and nothing else: DynamoDB refuses with its error', async () => {
    expect(await refusal(dynamoDb().send(new PutItemCommand({ TableName: 'things', Item: Key })))).toEqual({
      name: 'AccessDeniedException',
      status: 400,
      message:
        `User: ${user('Worker')} is not authorized to perform: dynamodb:PutItem on resource: ` +
        `${arn('dynamodb', 'table/things')} because no identity-based policy allows the dynamodb:PutItem action`,
    });
    const query = {
      TableName: 'things',
      KeyConditionExpression: '#o = :o',
      ExpressionAttributeNames: { '#o': 'owner' },
    };
    expect(await refusal(dynamoDb().send(new QueryCommand({ ...query, ...value('o') })))).toMatchObject({
      name: 'AccessDeniedException',
    });
  });

  test('and nothing else: Lambda, Step Functions and Secrets Manager refuse with theirs', async () => {
    const lambda = new LambdaClient(config('Worker'));
    expect(await refusal(lambda.send(new InvokeCommand({ FunctionName: 'Test-NoRights' })))).toMatchObject({
      name: 'AccessDeniedException',
      status: 403,
      message: expect.stringContaining(
        `perform: lambda:InvokeFunction on resource: ${arn('lambda', 'function:Test-NoRights')} `,
      ),
    });
    const run = { executionArn: arn('states', 'execution:Test-Calls:x') };
    expect(await refusal(states('Worker').send(new DescribeExecutionCommand(run)))).toMatchObject({
      name: 'AccessDeniedException',
      status: 400,
      message: expect.stringContaining(`states:DescribeExecution on resource: ${run.executionArn} because`),
    });
    expect(await refusal(secrets().send(new GetSecretValueCommand({ SecretId: 'Test-OtherKey' })))).toMatchObject({
      name: 'AccessDeniedException',
      message: expect.stringMatching(/GetSecretValue on resource: arn:aws:secretsmanager:.*:secret:Test-OtherKey-\w+ /),
    });
  });

  test('and nothing else: S3 refuses in XML, with another name', async () => {
    expect(await put('Worker', 'results/a')).toMatchObject({ status: 200 });
    expect(await put('Worker', 'other/a')).toEqual({
      status: 403,
      text: expect.stringMatching(
        /<Code>AccessDenied<\/Code><Message>User: .* perform: s3:PutObject on resource: arn:aws:s3:::test-results\/other\/a /,
      ),
    });
    expect(await put('NoRights', 'results/a')).toMatchObject({ status: 403 });
  });

  test('and nothing without a grant', async () => {
    expect(await refusal(dynamoDb('NoRights').send(new GetItemCommand(update)))).toMatchObject({
      message: expect.stringContaining(user('NoRights')),
    });
  });

  test('a refused call is not carried out', async () => {
    await refusal(
      dynamoDb().send(new PutItemCommand({ TableName: 'things', Item: { owner: { S: 'x' }, id: { S: 'x' } } })),
    );
    const Key = { owner: { S: 'x' }, id: { S: 'x' } };
    expect(await dynamoDb('test').send(new GetItemCommand({ TableName: 'things', Key }))).not.toHaveProperty('Item');
  });

  test('a caller outside the template may do everything', async () => {
    await dynamoDb('test').send(new PutItemCommand({ TableName: 'things', Item: Key }));
    await secrets('me').send(new PutSecretValueCommand({ SecretId: 'Test-OtherKey', SecretString: 'x' }));
  });
});

describe('conditions', () => {
  const set = (expression: string, more: object = {}) =>
    new UpdateItemCommand({ ...update, UpdateExpression: expression, ...value('v'), ...more });

  test('an attribute that is not listed is out of reach, in an update and in what it depends on', async () => {
    for (const command of [
      set('SET other = :v'),
      set('SET message = other, message2 = :v'),
      set('SET message = :v', { ConditionExpression: 'other = :v' }),
      set('SET message = :v', { ReturnValues: 'ALL_NEW' }),
    ]) {
      expect(await refusal(dynamoDb().send(command))).toMatchObject({ name: 'AccessDeniedException' });
    }
    await dynamoDb().send(
      set('SET message = :v', { ConditionExpression: 'id = :v OR id <> :v', ReturnValues: 'NONE' }),
    );
  });

  test('a Deny beats every Allow', async () => {
    const denied = await start({
      Extra: policy(['WorkerRole'], { Effect: 'Deny', Action: 'dynamodb:Get*', Resource: '*' }),
    });
    const db = new DynamoDBClient({ ...clientConfig(denied, 'Worker'), maxAttempts: 1 });
    expect(await refusal(db.send(new GetItemCommand(update)))).toMatchObject({
      message: expect.stringMatching(
        / on resource: .*table\/things with an explicit deny in an identity-based policy$/,
      ),
    });
    await denied.stop();
  });
});

describe('a state machine may do what its own role allows', () => {
  async function run(
    name: string,
  ): Promise<{ status: string | undefined; error?: string | undefined; cause?: string | undefined }> {
    const stateMachineArn = arn('states', `stateMachine:Test-${name}`);
    const { executionArn } = await states().send(new StartExecutionCommand({ stateMachineArn }));
    const found = () => states().send(new DescribeExecutionCommand({ executionArn }));
    await expect.poll(async () => (await found()).status).not.toBe('RUNNING');
    const { status, error, cause } = await found();
    return { status, error, cause };
  }

  test('its tasks fail with the error of their integration', async () => {
    expect(await run('Calls')).toMatchObject({ status: 'SUCCEEDED' });
    const cause = expect.stringMatching(/assumed-role\/Test-ClerkRole\/StepFunctions is not authorized to perform: /);
    expect(await run('CallsOther')).toEqual({ status: 'FAILED', error: 'Lambda.AWSLambdaException', cause });
    expect(await run('Writes')).toEqual({ status: 'FAILED', error: 'DynamoDB.AmazonDynamoDBException', cause });
  });

  test('a caller that may start it does not need its rights', async () => {
    const start = (name: string) =>
      new StartExecutionCommand({ stateMachineArn: arn('states', `stateMachine:Test-${name}`) });
    await states('Worker').send(start('Calls'));
    expect(await refusal(states('Worker').send(start('Writes')))).toMatchObject({ name: 'AccessDeniedException' });
  });
});

describe('an unused grant', () => {
  test('is listed, by statement, action and resource; what was used is not', async () => {
    const unused = () => cloud.permissions.unused().map(({ statement, action }) => `${statement}: ${action}`);
    await put('Worker', 'results/a');
    const before = unused();
    expect(before).toContain('WorkerRole Own, statement 1: iam:PassRole');
    expect(before).not.toContain('Attached, statement 1: s3:PutObject');
    const fresh = await start({});
    expect(fresh.permissions.unused()).toContainEqual({
      statement: 'Attached, statement 1',
      action: 's3:PutObject',
      resource: 'arn:aws:s3:::test-results/results/*',
    });
    await fresh.stop();
  });
});

test('lines of a function that may not write its logs are dropped, with a notice', async () => {
  const heard: string[] = [];
  const speaking = await startCloud({
    assembly: writeAssembly({
      resources,
      assets: { code: "export const handler = async () => console.log('hello');" },
    }),
    onLog: (source, line) => void heard.push(`${source}: ${line}`),
  });
  const lambda = new LambdaClient(clientConfig(speaking));
  for (const FunctionName of ['Test-NoRights', 'Test-Worker']) await lambda.send(new InvokeCommand({ FunctionName }));
  await expect.poll(() => heard).toContainEqual(expect.stringMatching(/^Test-Worker: .*hello/));
  expect(heard).toContain('cloud: Test-NoRights may not write its logs');
  expect(heard.filter((line) => line.startsWith('Test-NoRights'))).toEqual([]);
  await speaking.stop();
});

const value = (name: string) => ({ ExpressionAttributeValues: { [`:${name}`]: { S: 'i' } } });

async function put(caller: string, key: string): Promise<{ status: number; text: string }> {
  const headers = {
    authorization: `AWS4-HMAC-SHA256 Credential=${caller}/20260101/us-east-1/s3/aws4_request`,
    'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
  };
  const response = await fetch(`${cloud.endpoint}/${cloud.buckets[0]}/${key}`, { method: 'PUT', headers, body: 'x' });
  return { status: response.status, text: await response.text() };
}
