import { expect, onTestFinished, test, vi } from 'vitest';
import { isOutage, isThrottled } from '../../../../functions/mcp/protocol/aws-outage.ts';
import { type DynamoDbOptions, dynamoDb } from '../../../../functions/tasks/aws/dynamodb.ts';
import { ifConditionHolds } from '../../../../functions/tasks/table/conditional-write.ts';
import { type FakeAnswer, fakeService } from './fake-service.ts';

const Key = { owner: 'o', taskId: 't' };
const get = { TableName: 'T', Key };
const put = { TableName: 'T', Item: Key, ConditionExpression: 'attribute_not_exists(taskId)' };
const found: FakeAnswer = [200, { Item: { owner: { S: 'o' } } }];
const refusal = (name: string, more: object = {}): FakeAnswer => [
  400,
  { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'arn:aws:secret', ...more },
];
const conditionFailed = 'ConditionalCheckFailedException';

async function client(answers: readonly FakeAnswer[], options: Partial<DynamoDbOptions> = {}) {
  const { asked, endpoint } = await fakeService(...answers);
  return { asked, db: dynamoDb({ endpoint, region: 'eu-west-1', requestTimeout: 5_000, ...options }, {}) };
}
const failed = (sending: Promise<unknown>) =>
  sending.then(
    () => expect.unreachable('it succeeded'),
    (error: unknown) => error as Error,
  );
function withoutPauses() {
  const random = vi.spyOn(Math, 'random').mockReturnValue(0);
  onTestFinished(() => random.mockRestore());
}

test('a request is one signed POST of awsJson 1.0, with the credentials of the environment', async () => {
  const { asked, db } = await client([found]);
  vi.stubEnv('AWS_SESSION_TOKEN', 'token');
  expect(await db.get(get)).toEqual({ Item: { owner: 'o' } });
  expect(asked).toMatchObject([
    {
      line: 'POST /',
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': 'DynamoDB_20120810.GetItem',
        'x-amz-security-token': 'token',
        authorization: expect.stringMatching(/Credential=a\/\d{8}\/eu-west-1\/dynamodb\/aws4_request/),
      },
      body: { TableName: 'T', Key: { owner: { S: 'o' }, taskId: { S: 't' } } },
    },
  ]);
});

test('region and endpoint are those of the environment; without a region it throws by name', async () => {
  const { asked, endpoint } = await fakeService(found);
  const nowhere = 'http://127.0.0.1:9';
  const env = { AWS_REGION: 'us-east-2', AWS_ENDPOINT_URL: nowhere, AWS_ENDPOINT_URL_DYNAMODB: endpoint };
  await dynamoDb({ requestTimeout: 5_000 }, env).get(get);
  await dynamoDb({ requestTimeout: 5_000 }, { AWS_REGION: 'us-east-2', AWS_ENDPOINT_URL: endpoint }).get(get);
  expect(asked).toHaveLength(2);
  expect(asked[0]?.headers.authorization).toContain('/us-east-2/');
  expect(() => dynamoDb({ requestTimeout: 5_000 }, {})).toThrow('AWS_REGION');
});

test.each<[string, FakeAnswer]>([
  ['a throttle', refusal('ProvisionedThroughputExceededException')],
  ['a throttle of requests', refusal('ThrottlingException')],
  ['a fault of AWS', [500, { __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError' }]],
  ['an unavailable service', [503]],
  ['a lost connection', 'cut'],
  ['a body that is cut short', 'half'],
])('after %s the call is tried again, four times in all', async (_title, answer) => {
  withoutPauses();
  const { asked, db } = await client([answer, answer, answer, found]);
  expect(await db.get(get)).toEqual({ Item: { owner: 'o' } });
  expect(asked).toHaveLength(4);
  const down = await client([answer]);
  const error = await failed(down.db.get(get));
  expect(error).toMatchObject({ $metadata: { attempts: 4 } });
  expect([isOutage(error), down.asked.length]).toEqual([true, 4]);
});

test('the first pause is at most 25 ms, and a second after a throttle, as those of the AWS SDK', async () => {
  const random = vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const waits = vi.spyOn(globalThis, 'setTimeout');
  onTestFinished(() => void vi.restoreAllMocks());
  const pauses = async (answer: FakeAnswer, attempts: number) => {
    const { db } = await client([answer], { attempts });
    waits.mockClear();
    await failed(db.get(get));
    return waits.mock.calls.map(([, ms]) => ms).filter((ms) => [12.5, 25, 50, 500].includes(ms ?? 0));
  };
  expect(await pauses([500], 4)).toEqual([12.5, 25, 50]);
  expect(await pauses(refusal('ThrottlingException'), 2)).toEqual([500]);
  expect(random).toHaveBeenCalled();
});

test('in a long outage calls are no longer tried again, until others have succeeded', async () => {
  withoutPauses();
  const answers: FakeAnswer[] = [...Array<FakeAnswer>(80).fill([500]), ...Array<FakeAnswer>(14).fill(found), [500]];
  const { asked, db } = await client(answers, { attempts: 2 });
  // 35 retries for 14 each leave 10 of the 500.
  for (let call = 0; call < 45; call++) await failed(db.get(get));
  expect(asked).toHaveLength(80);
  for (let call = 0; call < 14; call++) await db.get(get);
  await failed(db.get(get));
  expect(asked).toHaveLength(80 + 14 + 2);
});

test('an answer that never comes is an outage after each attempt had its time', async () => {
  const { asked, db } = await client(['silence'], { requestTimeout: 100, attempts: 2 });
  const error = await failed(db.update({ ...get, UpdateExpression: 'SET a = b' }));
  expect(error).toMatchObject({ name: 'TimeoutError', $metadata: { attempts: 2 } });
  expect([isOutage(error), isThrottled(error), asked.length]).toEqual([true, false, 2]);
});

test.each([
  ['without the item', {}],
  ['with the item', { Item: { result: { S: 'planted' } } }],
])('a failed condition %s is no outcome, not tried again, and its error holds no item', async (_title, more) => {
  const { asked, db } = await client([refusal(conditionFailed, more)]);
  expect(await ifConditionHolds(db.put(put))).toBeUndefined();
  expect(asked).toHaveLength(1);
  const error = await failed(db.put(put));
  expect(JSON.stringify([error.message, { ...error }])).not.toMatch(/planted|secret/);
});

test('a condition that fails after a lost answer is a failed condition, of two attempts', async () => {
  const { db } = await client(['cut', refusal(conditionFailed)]);
  const error = await failed(db.put(put));
  expect(error).toMatchObject({ name: conditionFailed, $metadata: { httpStatusCode: 400, attempts: 2 } });
});

test.each(['AccessDeniedException', 'ValidationException', 'ResourceNotFoundException'])(
  '%s is not tried again; the error has its name and nothing that AWS said (A-15)',
  async (name) => {
    const { asked, db } = await client([refusal(name)]);
    const error = await failed(db.query({ TableName: 'T' }));
    expect(error).toMatchObject({ name, message: 'dynamodb refused Query' });
    expect([isOutage(error), asked.length]).toEqual([false, 1]);
  },
);

test('an answer that is no JSON is an error that does not quote it', async () => {
  const { asked, db } = await client([[200, '{"Item":{"result":{"S":"planted']]);
  const error = await failed(db.get(get));
  expect(`${error.name} ${error.message} ${error.stack}`).not.toContain('planted');
  expect(error).toMatchObject({ name: 'SyntaxError' });
  expect(asked).toHaveLength(1);
});

test('a clock that is off is corrected by that of AWS, and the request sent again', async () => {
  const ahead = Date.now() + 600_000;
  const skewed = { date: new Date(ahead).toUTCString() };
  const [status, body] = refusal('InvalidSignatureException') as [number, object];
  const { asked, db } = await client([[status, body, skewed], found]);
  expect(await db.get(get)).toEqual({ Item: { owner: 'o' } });
  const [first, second] = asked.map(({ headers }) =>
    Date.parse(String(headers['x-amz-date']).replace(/(....)(..)(..T..)(..)/, '$1-$2-$3:$4:')),
  );
  expect((second ?? 0) - (first ?? 0)).toBeGreaterThan(590_000);
});

test('keys that a batch leaves out come back as they can be asked for again', async () => {
  const left = { T: { Keys: [{ owner: { S: 'o' }, taskId: { S: 'u' } }], ConsistentRead: true } };
  const { asked, db } = await client([[200, { Responses: { T: [] }, UnprocessedKeys: left }]]);
  const Keys = [Key, { ...Key, taskId: 'u' }];
  const { Responses, UnprocessedKeys } = await db.batchGet({ RequestItems: { T: { Keys, ConsistentRead: true } } });
  expect(Responses).toEqual({ T: [] });
  expect(UnprocessedKeys).toEqual({ T: { Keys: [{ owner: 'o', taskId: 'u' }], ConsistentRead: true } });
  await db.batchGet({ RequestItems: UnprocessedKeys });
  expect(asked[1]?.body).toEqual({ RequestItems: left });
});

test('an answer without items, attributes or keys has none', async () => {
  const { db } = await client([[200, {}]]);
  expect(await db.get(get)).toEqual({});
  expect(await db.put(put)).toEqual({});
  expect(await db.update(get)).toEqual({});
  expect(await db.query({ TableName: 'T' })).toEqual({});
  expect(await db.batchGet({ RequestItems: {} })).toEqual({});
});
