import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { MessageChannel } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { isOutage } from '../../../../functions/mcp/protocol/aws-outage.ts';
import type { ClientOptions } from '../../../../functions/tasks/aws/client.ts';
import { dynamoDb } from '../../../../functions/tasks/aws/dynamodb.ts';
import { type FakeAnswer, fakeService } from './fake-service.ts';

/** A client of a DynamoDB that gives these answers. */
async function client(answers: readonly FakeAnswer[], options: Partial<ClientOptions> = {}) {
  const { asked, endpoint } = await fakeService(...answers);
  const db = dynamoDb({ endpoint, region: 'eu-west-1', requestTimeout: 5_000, ...options });
  return { asked, get: () => db.get({ TableName: 'T', Key: { owner: 'o' } }) };
}
const found: FakeAnswer = [200, { Item: { owner: { S: 'o' } } }];
const refusal = (name: string, more: object = {}): FakeAnswer => [
  400,
  { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'arn:aws:secret', ...more },
];
const failed = (sending: Promise<unknown>) =>
  sending.then(
    () => expect.unreachable('it succeeded'),
    (error: unknown) => error as Error,
  );

test('a request has the region and the credentials of the environment, where Lambda has them', async () => {
  const { asked, get } = await client([found]);
  vi.stubEnv('AWS_SESSION_TOKEN', 'token');
  expect(await get()).toMatchObject({ Item: { owner: 'o' } });
  expect(asked[0]?.headers).toMatchObject({
    'x-amz-security-token': 'token',
    authorization: expect.stringMatching(/Credential=a\/\d{8}\/eu-west-1\/dynamodb\/aws4_request/),
  });
});

test('an endpoint of the environment counts, one of the service first', async () => {
  const { asked, endpoint } = await fakeService(found);
  vi.stubEnv('AWS_REGION', 'us-east-2');
  vi.stubEnv('AWS_ENDPOINT_URL', 'http://127.0.0.1:9');
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', endpoint);
  await dynamoDb({ requestTimeout: 5_000 }).get({ TableName: 'T', Key: { owner: 'o' } });
  expect(asked[0]?.headers.authorization).toContain('/us-east-2/');
});

test.each<[string, FakeAnswer]>([
  ['a throttle', refusal('ProvisionedThroughputExceededException')],
  ['a fault of AWS', [500, { __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError' }]],
  ['a lost connection', 'cut'],
  ['a body that is cut short', 'half'],
])('after %s a call is tried again, and its error says how often', async (_title, answer) => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  onTestFinished(() => void vi.restoreAllMocks());
  const { asked, get } = await client([answer, answer, answer, found]);
  expect(await get()).toMatchObject({ Item: { owner: 'o' } });
  expect(asked).toHaveLength(4);
  const down = await client([answer], { attempts: 2 });
  const error = await failed(down.get());
  expect(error).toMatchObject({ $metadata: { attempts: 2 } });
  expect([isOutage(error), down.asked.length]).toEqual([true, 2]);
});

test.each<FakeAnswer>(['silence', 'stall'])(
  'an answer that never ends is a timeout of each attempt: %s',
  async (answer) => {
    const { asked, get } = await client([answer], { requestTimeout: 100, attempts: 2 });
    const error = await failed(get());
    expect(error).toMatchObject({ name: 'TimeoutError', $metadata: { attempts: 2 } });
    expect([isOutage(error), asked.length]).toEqual([true, 2]);
  },
);

test.each<[string, FakeAnswer, object]>([
  ['AccessDeniedException', refusal('AccessDeniedException'), { $metadata: { httpStatusCode: 400, attempts: 1 } }],
  [
    'a failed condition with its item',
    refusal('ConditionalCheckFailedException', { Item: { a: { S: 'secret' } } }),
    {},
  ],
  ['an answer that is no JSON', [200, '{"Item":{"result":{"S":"secret'], { name: 'SyntaxError' }],
])('an error has its name, and nothing that AWS said (A-15): %s', async (_title, answer, expected) => {
  const { asked, get } = await client([answer]);
  const error = await failed(get());
  expect(error).toMatchObject({ message: 'DynamoDBClient failed at GetItemCommand', ...expected });
  expect(inspect(error, { depth: null, showHidden: true })).not.toContain('secret');
  expect(asked).toHaveLength(1);
});

test('an error of the client itself says nothing of the input, either (A-15)', async () => {
  const db = dynamoDb({ region: 'eu-west-1', requestTimeout: 5_000 });
  const error = await failed(db.put({ TableName: 'T', Item: { secret: new (class Secret {})() } }));
  expect(inspect(error)).not.toMatch(/secret/i);
});

test('a clock that is off is corrected by the one of AWS, and the request sent again (row 20)', async () => {
  const ahead = Date.now() + 600_000;
  const [status, body] = refusal('InvalidSignatureException') as [number, object];
  const { asked, get } = await client([[status, body, { date: new Date(ahead).toUTCString() }], found]);
  expect(await get()).toMatchObject({ Item: { owner: 'o' } });
  const [first = 0, second = 0] = asked.map(({ headers }) =>
    Date.parse(String(headers['x-amz-date']).replace(/(....)(..)(..T..)(..)/, '$1-$2-$3:$4:')),
  );
  expect(second - first).toBeGreaterThan(590_000);
});

test('a request is part of a trace of X-Ray, in Lambda only', async () => {
  const { asked, get } = await client([found]);
  vi.stubEnv('_X_AMZN_TRACE_ID', 'Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1');
  await get();
  vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'endpoint');
  await get();
  expect(asked.map(({ headers }) => headers['x-amzn-trace-id'])).toEqual([undefined, process.env._X_AMZN_TRACE_ID]);
});

/** A server that keeps its answers until the test releases them. */
async function holding() {
  const held: ServerResponse[] = [];
  const server = createServer((request, response) => {
    request.resume();
    held.push(response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const credentials = async () => ({ accessKeyId: 'a', secretAccessKey: 'b' });
  const db = dynamoDb({ endpoint, region: 'eu-west-1', credentials, attempts: 1, requestTimeout: 30_000 });
  return {
    held,
    get: () => db.get({ TableName: 'T', Key: { owner: 'o' } }),
    answerAll() {
      for (const response of held.splice(0)) response.end('{}');
    },
  };
}

test('120 calls at once that are answered late are all under way: none waits for a socket', async () => {
  const { held, get, answerAll } = await holding();
  const all = Promise.all(Array.from({ length: 120 }, get));
  all.catch(() => undefined);
  await expect.poll(() => held).toHaveLength(120);
  answerAll();
  await all;
});

test('a worker that is busy beyond the timeout does not take a new connection for dead', async () => {
  const { held, get, answerAll } = await holding();
  const sent = whileBusy(1_500, get);
  sent.catch(() => undefined);
  await expect.poll(() => held).toHaveLength(1);
  answerAll();
  await sent;
});

/** Holds the thread as soon as the call begins to connect. Timers are then due before the socket says that it has. */
async function whileBusy<T>(ms: number, call: () => Promise<T>): Promise<T> {
  const hold = () =>
    process.nextTick(() => {
      for (const until = performance.now() + ms; performance.now() < until; );
    });
  subscribe('net.client.socket', hold);
  // Like an event of Lambda, the call begins in the phase of the event loop that comes right before the timers.
  const { port1, port2 } = new MessageChannel();
  try {
    return await new Promise((resolve, reject) => {
      port1.on('message', () => call().then(resolve, reject));
      port2.postMessage('begin');
    });
  } finally {
    port1.close();
    unsubscribe('net.client.socket', hold);
  }
}
