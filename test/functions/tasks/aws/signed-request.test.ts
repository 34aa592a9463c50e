import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { invoker } from '../../../../functions/mcp/invoke.ts';
import { signedRequests } from '../../../../functions/tasks/aws/signed-request.ts';
import { stepFunctions } from '../../../../functions/tasks/aws/step-functions.ts';
import { objectKey, resultStore } from '../../../../functions/tasks/results/result-store.ts';

/** One request as it came in. */
interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const region = 'eu-central-1';
const credentials = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG',
  sessionToken: 'FwoGZXIvYX==',
};
const sent: Sent[] = [];
const server = createServer(async (request: IncomingMessage, response) => {
  const { method = '', url: path = '' } = request;
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  sent.push({ method, path, headers, body: (await buffer(request)).toString() });
  // Without a date: the clients would correct their clock by it.
  response.sendDate = false;
  response.end('{}');
});
const origin = () => new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => void server.close());

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 10, 22, 3, 4, 5) });
  vi.stubEnv('AWS_ACCESS_KEY_ID', credentials.accessKeyId);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', credentials.secretAccessKey);
  vi.stubEnv('AWS_SESSION_TOKEN', credentials.sessionToken);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

async function last(sending: Promise<unknown>): Promise<Sent> {
  sent.length = 0;
  await sending;
  expect(sent).toHaveLength(1);
  return sent[0] as Sent;
}
const partsOf = ({ headers: { authorization = '' } }: Sent) =>
  /^AWS4-HMAC-SHA256 Credential=(\S+), SignedHeaders=(\S+), Signature=([0-9a-f]{64})$/.exec(authorization)?.slice(1) ??
  [];
const signedHeaders = (one: Sent): string[] => partsOf(one)[1]?.split(';') ?? [];

/**
 * The request of an AWS client, sent again by our own code. The client signs headers that ours does not send (`amz-sdk-…`,
 * checksums), so ours is given every header that the client has signed: method, path, date, token, body and all signed
 * headers are then the same, and so must be the whole Authorization header.
 */
async function again(service: string, theirs: Sent, body = theirs.body): Promise<Sent> {
  const added = ['host', 'x-amz-date', 'x-amz-security-token', 'x-amz-content-sha256'];
  const headers = Object.fromEntries(
    signedHeaders(theirs)
      .filter((name) => !added.includes(name))
      .map((name) => [name, theirs.headers[name] ?? '']),
  );
  const request = signedRequests(service, origin(), region, 5_000);
  const content = body === '' ? {} : { body: Buffer.from(body) };
  const { method, path } = theirs;
  return last(request({ method, path, headers, ...content }, AbortSignal.timeout(5_000)));
}

const arn = `arn:aws:lambda:${region}:123456789012:function:my-tool_1`;
const event = '{"name":"t","arguments":{"text":"ä 😀"}}';
const lambda = () => new LambdaClient({ region, credentials, endpoint: origin().href, maxAttempts: 1 });
const invoked = () => last(lambda().send(new InvokeCommand({ FunctionName: arn, Payload: Buffer.from(event) })));

function s3() {
  const checksums = {
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  } as const;
  const options = { region, credentials, endpoint: origin().href, forcePathStyle: true, maxAttempts: 1, ...checksums };
  const client = new S3Client(options);
  // The name of the operation, which S3 does not need, and ours does not send.
  client.middlewareStack.add(
    (next) => (args) => {
      delete (args.request as { query: Record<string, unknown> }).query['x-id'];
      return next(args);
    },
    { step: 'build' },
  );
  return client;
}
const key = { owner: 'o', taskId: 't'.repeat(36), round: 2, attempt: 1 };
const Bucket = 'results-1';

describe('our signature equals that of the AWS client for the same request', () => {
  test('Lambda: Invoke, with the ARN of a function in the path', async () => {
    const theirs = await invoked();
    expect((await again('lambda', theirs)).headers.authorization).toBe(theirs.headers.authorization);
    const [scope] = partsOf(theirs);
    expect(scope).toBe(`AKIDEXAMPLE/20261122/${region}/lambda/aws4_request`);
  });

  test.each([
    ['a key as results have it', objectKey(key)],
    ['a key that needs escapes, which S3 alone signs as they are sent', "results/a b+c=(1)/100%/ä'*"],
  ])('S3: PutObject and GetObject, %s', async (_title, Key) => {
    const put = await last(
      s3().send(new PutObjectCommand({ Bucket, Key, Body: event, ContentType: 'application/json' })),
    );
    expect((await again('s3', put)).headers.authorization).toBe(put.headers.authorization);
    const got = await last(s3().send(new GetObjectCommand({ Bucket, Key })));
    expect((await again('s3', got)).headers.authorization).toBe(got.headers.authorization);
  });

  test('and another one for another body, another service, another second', async () => {
    const theirs = await invoked();
    const { authorization } = theirs.headers;
    expect((await again('lambda', theirs, `${event} `)).headers.authorization).not.toBe(authorization);
    expect((await again('s3', theirs)).headers.authorization).not.toBe(authorization);
    vi.setSystemTime(Date.now() + 1_000);
    expect((await again('lambda', theirs)).headers.authorization).not.toBe(authorization);
  });
});

describe('what the server sends is what the AWS client sends', () => {
  const told = ({ method, path, body, headers }: Sent) => ({
    ...{ method, path, body, token: headers['x-amz-security-token'], date: headers['x-amz-date'] },
  });
  const needed = ['host', 'x-amz-content-sha256', 'x-amz-date', 'x-amz-security-token'];

  test('to Lambda, where the client adds nothing but what it says of itself', async () => {
    const theirs = await invoked();
    const tool = {
      name: 't',
      description: 'd',
      inputSchema: {},
      taskSupport: 'forbidden',
      timeout: 5_000,
      function: 0,
    } as const;
    const invoke = invoker([arn], { AWS_REGION: region, AWS_ENDPOINT_URL: origin().href });
    const ours = await last(invoke(tool, event));
    expect(told(ours)).toEqual(told(theirs));
    expect(signedHeaders(ours)).toEqual(['content-length', 'content-type', ...needed].toSorted());
  });

  test('to Step Functions', async () => {
    const sfn = new SFNClient({ region, credentials, endpoint: origin().href, maxAttempts: 1 });
    const input = { stateMachineArn: 'arn:m', name: 'a-r1', input: '{"n":1}' };
    const theirs = await last(sfn.send(new StartExecutionCommand(input)));
    const options = { region, requestTimeout: 5_000, attempts: 1 };
    const ours = await last(stepFunctions(options, { AWS_ENDPOINT_URL: origin().href })('StartExecution', input));
    expect(told(ours)).toEqual(told(theirs));
    for (const name of ['content-type', 'x-amz-target']) expect(ours.headers[name]).toBe(theirs.headers[name]);
    expect((await again('states', theirs)).headers.authorization).toBe(theirs.headers.authorization);
    expect((await again('states', ours)).headers.authorization).toBe(ours.headers.authorization);
  });

  test('within a trace of X-Ray, and in Lambda only', async () => {
    const options = { region, requestTimeout: 5_000, attempts: 1 };
    const start = stepFunctions(options, { AWS_ENDPOINT_URL: origin().href });
    vi.stubEnv('_X_AMZN_TRACE_ID', 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1');
    expect((await last(start('StartExecution', {}))).headers).not.toHaveProperty('x-amzn-trace-id');
    vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'endpoint');
    const sfn = new SFNClient({ region, credentials, endpoint: origin().href, maxAttempts: 1 });
    const theirs = await last(sfn.send(new StartExecutionCommand({ stateMachineArn: 'arn:m' })));
    const ours = await last(start('StartExecution', { stateMachineArn: 'arn:m' }));
    expect(ours.headers['x-amzn-trace-id']).toBe(process.env._X_AMZN_TRACE_ID);
    expect(ours.headers['x-amzn-trace-id']).toBe(theirs.headers['x-amzn-trace-id']);
    expect(signedHeaders(ours)).not.toContain('x-amzn-trace-id');
  });

  test('to S3', async () => {
    const store = resultStore({ bucket: Bucket, region, endpoint: origin().href });
    const put = await last(s3().send(new PutObjectCommand({ Bucket, Key: objectKey(key), Body: event })));
    const got = await last(s3().send(new GetObjectCommand({ Bucket, Key: objectKey(key) })));
    const ours = await last(store.put(key, event));
    expect(told(ours)).toEqual(told(put));
    expect(ours.headers['x-amz-content-sha256']).toBe(put.headers['x-amz-content-sha256']);
    const read = await last(store.get(key));
    expect(told(read)).toEqual(told(got));
    expect(signedHeaders(read)).toEqual(needed);
  });
});

describe('a clock that AWS refuses', () => {
  const minutes = 60_000;
  const hour = 60 * minutes;
  /**
   * Answers with its own date, and by default refuses a signature that is five minutes off, as AWS does. `status` is
   * its other answer.
   */
  async function strict(ahead: number, status = 403, { refuses = true, age = '' } = {}) {
    const dates: number[] = [];
    const aws = createServer((request, response) => {
      const [, day, time] = /^(.{8})T(.{6})Z$/.exec(String(request.headers['x-amz-date'])) ?? [];
      const iso = `${day?.replace(/(....)(..)(..)/, '$1-$2-$3')}T${time?.replace(/(..)(..)(..)/, '$1:$2:$3')}Z`;
      const now = Date.now() + ahead;
      dates.push(Date.parse(iso) - Date.now());
      response.sendDate = false;
      response.setHeader('date', new Date(now).toUTCString());
      if (age !== '') response.setHeader('age', age);
      response.statusCode = refuses && Math.abs(Date.parse(iso) - now) > 5 * minutes ? 403 : status;
      response.end();
    });
    await new Promise<void>((resolve) => aws.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void aws.close());
    const url = new URL(`http://127.0.0.1:${(aws.address() as AddressInfo).port}`);
    const request = signedRequests('lambda', url, region, 5_000);
    return { dates, send: () => request({ method: 'POST', path: '/' }, AbortSignal.timeout(5_000)) };
  }

  test.each([hour, -hour])('is corrected by its answer, once: %i ms (row 20)', async (ahead) => {
    const { dates, send } = await strict(ahead, 200);
    expect((await send()).status).toBe(200);
    expect((await send()).status).toBe(200);
    expect(dates).toEqual([0, ahead, ahead]);
  });

  test('another refusal is not sent again, nor one whose date is close', async () => {
    const { dates, send } = await strict(3 * minutes, 403);
    expect((await send()).status).toBe(403);
    expect(dates).toEqual([0]);
  });

  test.each([500, 403])('is corrected once, whatever AWS answers then: %i', async (status) => {
    const { dates, send } = await strict(hour, status);
    await send();
    expect(dates).toEqual([0, hour]);
    await send();
    expect(dates).toEqual([0, hour, hour]);
  });

  test.each([200, 399, 500, 503])('is none where the answer is %i: it may have been carried out', async (status) => {
    const { dates, send } = await strict(hour, status, { refuses: false });
    expect((await send()).status).toBe(status);
    expect(dates).toEqual([0]);
  });

  test('may be refused by 400, too, and from four minutes on', async () => {
    const { dates, send } = await strict(4 * minutes, 400, { refuses: false });
    await send();
    expect(dates).toEqual([0, 4 * minutes]);
  });

  test('is not corrected by the date of a cache', async () => {
    const { dates, send } = await strict(hour, 403, { age: '3600' });
    await send();
    expect(dates).toEqual([0]);
  });
});
