import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { InvokeCommand, type InvokeCommandInput, LambdaClient } from '@aws-sdk/client-lambda';
import { afterEach, describe, expect, it } from 'vitest';
import type { Lambda } from '../../lambda/index.ts';
import { until, useBench } from './fixtures.ts';

const bench = useBench();
const source = `exports.handler = async (event) => {
  if (event.fail) throw new RangeError('no');
  if (event.size) return 'x'.repeat(event.size);
  console.log('ran');
  await new Promise((resolve) => setTimeout(resolve, event.ms ?? 0));
  return { echo: event, text: 'ü€' };
};`;

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** The real SDK client, and a server that only passes requests to handleHttp. */
async function clientOf(lambda: Lambda): Promise<LambdaClient> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const headers = request.headers as Record<string, string>;
    const answer = await lambda.handleHttp({
      method: request.method ?? '',
      path: request.url ?? '',
      headers,
      body: Buffer.concat(chunks),
    });
    response.writeHead(answer?.status ?? 599, answer?.headers).end(answer?.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = new LambdaClient({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxAttempts: 1,
  });
  closing.push(() => {
    client.destroy();
    server.close();
  });
  return client;
}

async function invoke(client: LambdaClient, input: InvokeCommandInput) {
  const { Payload, StatusCode, FunctionError, ExecutedVersion } = await client.send(new InvokeCommand(input));
  return { StatusCode, FunctionError, ExecutedVersion, text: Payload?.transformToString() };
}

describe('the SDK client', () => {
  it('invokes by name, ARN and partial ARN, with and without a qualifier', async () => {
    const spec = bench.define('wire', source);
    const client = await clientOf(bench.open([spec]));
    for (const FunctionName of ['wire', 'wire:live', spec.arn, `${spec.arn}:$LATEST`, '123456789012:function:wire']) {
      await expect(invoke(client, { FunctionName, Payload: '{"a":1}' })).resolves.toEqual({
        StatusCode: 200,
        FunctionError: undefined,
        ExecutedVersion: '$LATEST',
        text: '{"echo":{"a":1},"text":"ü€"}',
      });
    }
    await expect(invoke(client, { FunctionName: 'wire', Qualifier: 'live' })).resolves.toMatchObject({
      text: '{"echo":{},"text":"ü€"}',
    });
  });

  it('sees a failed function', async () => {
    const client = await clientOf(bench.open([bench.define('wire-fail', source)]));
    const answer = await invoke(client, { FunctionName: 'wire-fail', Payload: '{"fail":true}' });
    expect(answer).toMatchObject({ StatusCode: 200, FunctionError: 'Unhandled' });
    expect(JSON.parse(answer.text ?? '')).toMatchObject({ errorType: 'RangeError', errorMessage: 'no' });
  });

  it('invokes asynchronously', async () => {
    const lines: string[] = [];
    const lambda = bench.open([bench.define('wire-event', source)], { onLog: (_name, line) => lines.push(line) });
    const client = await clientOf(lambda);
    const FunctionName = 'wire-event';
    const event = await invoke(client, { FunctionName, InvocationType: 'Event', Payload: '{"ms":100}' });
    expect(event).toMatchObject({ StatusCode: 202, FunctionError: undefined, text: undefined });
    await until(() => lines.includes('ran'));
    expect(lambda.workers()[0]?.busy).toBe(1);
  });

  it('gets the exceptions of AWS', async () => {
    const client = await clientOf(bench.open([bench.define('wire-refuse', source)]));
    const FunctionName = 'wire-refuse';
    const refused = async (input: InvokeCommandInput) => invoke(client, input).catch((error: unknown) => error);
    const large = (bytes: number): string => JSON.stringify('x'.repeat(bytes - 2));

    await expect(refused({ FunctionName: 'unknown' })).resolves.toMatchObject({
      name: 'ResourceNotFoundException',
      Type: 'User',
      $metadata: { httpStatusCode: 404 },
    });
    await expect(refused({ FunctionName, Payload: '{"a"' })).resolves.toMatchObject({
      name: 'InvalidRequestContentException',
      $metadata: { httpStatusCode: 400 },
    });
    await expect(refused({ FunctionName, Payload: large(6_291_457) })).resolves.toMatchObject({
      name: 'RequestTooLargeException',
      $metadata: { httpStatusCode: 413 },
    });
    await expect(refused({ FunctionName, Payload: large(1_048_577), InvocationType: 'Event' })).resolves.toMatchObject({
      name: 'RequestTooLargeException',
    });
    const wrong = { FunctionName, InvocationType: 'Sometimes' as 'Event' };
    await expect(refused(wrong)).resolves.toMatchObject({ name: 'InvalidParameterValueException' });
  });

  it('learns which limit throttled it', async () => {
    const lambda = bench.open([bench.define('wire-full', source)], { concurrency: 1 });
    const client = await clientOf(lambda);
    const running = invoke(client, { FunctionName: 'wire-full', Payload: '{"ms":300}' });
    await until(() => lambda.workers()[0]?.busy === 1);
    await expect(invoke(client, { FunctionName: 'wire-full' })).rejects.toMatchObject({
      name: 'TooManyRequestsException',
      Reason: 'ConcurrentInvocationLimitExceeded',
      Type: 'User',
      message: 'Rate Exceeded.',
      $metadata: { httpStatusCode: 429 },
    });
    await running;
  });

  it('carries payloads up to the limits, and no further', async () => {
    const client = await clientOf(bench.open([bench.define('wire-size', source)]));
    const FunctionName = 'wire-size';
    const full = await invoke(client, { FunctionName, Payload: JSON.stringify({ size: 6_291_554 }) });
    expect(full.text?.length).toBe(6_291_556);
    const over = await invoke(client, { FunctionName, Payload: JSON.stringify({ size: 6_291_555 }) });
    expect(over.FunctionError).toBe('Unhandled');
    expect(over.text).toBe(
      '{"errorType":"Function.ResponseSizeTooLarge","errorMessage":"Response payload size exceeded maximum allowed payload size (6291556 bytes)."}',
    );
    const request = JSON.stringify({ size: 1, fill: 'x'.repeat(6_291_456 - 20) });
    expect(Buffer.byteLength(request)).toBe(6_291_456);
    expect((await invoke(client, { FunctionName, Payload: request })).text).toBe('"x"');
  });
});

describe('handleHttp', () => {
  const request = { method: 'POST', path: '/', headers: {}, body: Buffer.from('') };

  it('ignores paths of other services', async () => {
    const lambda = bench.open([]);
    await expect(lambda.handleHttp(request)).resolves.toBeUndefined();
    await expect(lambda.handleHttp({ ...request, path: '/2021-11-15/functions/f/x' })).resolves.toBeUndefined();
  });

  it('refuses unknown operations of Lambda by name', async () => {
    const lambda = bench.open([bench.define('f', source)]);
    for (const [method, path] of [
      ['GET', '/2015-03-31/functions/f/invocations'],
      ['GET', '/2015-03-31/functions/f'],
      ['POST', '/2015-03-31/functions/f/invocations/more'],
      ['PUT', '/2015-03-31/functions/f/configuration'],
    ] as const) {
      const answer = await lambda.handleHttp({ ...request, method, path });
      expect(answer?.status).toBe(404);
      expect(answer?.headers['x-amzn-errortype']).toBe('UnknownOperationException');
      expect(answer?.body).toContain(`${method} ${path}`);
    }
  });

  it('refuses a name it cannot decode', async () => {
    const path = '/2015-03-31/functions/%E0%A4%A/invocations';
    await expect(bench.open([]).handleHttp({ ...request, path })).resolves.toMatchObject({ status: 400 });
  });
});
