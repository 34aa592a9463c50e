import { describe, expect, it } from 'vitest';
import type { AsynchronousSettings, InvocationRecord, InvokeResult } from '../../lambda/index.ts';
import { until, useBench } from './fixtures.ts';

const bench = useBench();

/** Fails as often as the event says, and logs its request id. */
const source = `let calls = 0;
  exports.handler = async ({ failures, ms = 0 }, { awsRequestId }) => {
    console.log('call ' + awsRequestId);
    await new Promise((resolve) => setTimeout(resolve, ms));
    if (calls++ < failures) throw new Error('call ' + calls);
    return calls;
  };`;

/** A second is a millisecond. */
function open(name: string, asynchronous?: AsynchronousSettings, maxWorkersPerFunction = 1) {
  const calls: { at: number; id: string }[] = [];
  const records: { destination: string; record: InvocationRecord }[] = [];
  const attempts: (InvokeResult | undefined)[] = [];
  const lambda = bench.open([bench.define(name, source, asynchronous && { asynchronous })], {
    maxWorkersPerFunction,
    timeScale: 1_000,
    now: () => 0,
    onLog: (_name, line) => line.startsWith('call ') && calls.push({ at: performance.now(), id: line.slice(5) }),
    onGivenUp: (destination, record) => records.push({ destination, record }),
  });
  const send = (event: object) =>
    lambda.invoke(name, JSON.stringify(event), { event: true, onAttempt: (result) => attempts.push(result) });
  return { lambda, calls, records, attempts, send };
}

describe('an asynchronous invocation that fails', () => {
  it('is repeated after one minute and after two more, and given up', async () => {
    const { calls, records, attempts, send } = open('twice', { onFailure: 'arn:queue' });
    expect(await send({ failures: 9 })).toMatchObject({ statusCode: 202, payload: '' });
    await until(() => records.length > 0);
    const [first, second, third] = calls.map(({ at }) => at);
    expect(calls).toHaveLength(3);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThan(58);
    expect((third ?? 0) - (second ?? 0)).toBeGreaterThan(118);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(1);
    expect(attempts.map((result) => result?.functionError)).toEqual(['Unhandled', 'Unhandled', 'Unhandled']);
    expect(records).toEqual([
      {
        destination: 'arn:queue',
        record: {
          version: '1.0',
          timestamp: '1970-01-01T00:00:00.000Z',
          requestContext: {
            requestId: calls[0]?.id,
            functionArn: 'arn:aws:lambda:eu-central-1:123456789012:function:twice:$LATEST',
            condition: 'RetriesExhausted',
            approximateInvokeCount: 3,
          },
          requestPayload: { failures: 9 },
          responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
          responsePayload: { errorType: 'Error', errorMessage: 'call 3', trace: expect.any(Array) },
        },
      },
    ]);
  });

  it('ends with the first attempt that succeeds', async () => {
    const { calls, records, attempts, send } = open('once', { onFailure: 'arn:queue' });
    await send({ failures: 1 });
    await until(() => attempts.length === 2);
    expect(attempts.map((result) => result?.payload)).toEqual([expect.stringContaining('call 1'), '2']);
    expect([calls.length, records]).toEqual([2, []]);
  });

  it('is repeated as often as the function is configured', async () => {
    const { calls, records, send } = open('never', { onFailure: 'arn:queue', maximumRetryAttempts: 0 });
    await send({ failures: 9 });
    await until(() => records.length > 0);
    expect([calls.length, records[0]?.record.requestContext.approximateInvokeCount]).toEqual([1, 1]);
  });

  it('is not repeated once its event is too old', async () => {
    const { calls, records, send } = open('age', { onFailure: 'arn:queue', maximumEventAgeSeconds: 60 });
    await send({ failures: 9, ms: 10 });
    await until(() => records.length > 0);
    expect([calls.length, records[0]?.record.requestContext.condition]).toEqual([1, 'EventAgeExceeded']);
  });
});

it('an event that finds no worker until it expires is given up without an attempt', async () => {
  const { attempts, records, send, lambda } = open('busy', { onFailure: 'arn:queue', maximumEventAgeSeconds: 100 });
  const busy = lambda.invoke('busy', '{"ms":400}');
  await send({ failures: 0 });
  await until(() => records.length > 0);
  expect(attempts).toEqual([undefined]);
  expect(records[0]?.record.requestContext).toMatchObject({ condition: 'EventAgeExceeded', approximateInvokeCount: 0 });
  expect(records[0]?.record).not.toHaveProperty('responsePayload');
  expect((await busy).payload).toBe('1');
});

it('nothing is repeated after the stop', async () => {
  const { calls, attempts, send, lambda } = open('stopped');
  await send({ failures: 9 });
  await until(() => attempts.length > 0);
  await lambda.stop();
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(calls).toHaveLength(1);
});

it('a throttled one is retried at growing intervals, and that counts as no attempt', async () => {
  const lambda = bench.open([bench.define('full', source, { asynchronous: { maximumRetryAttempts: 0 } })], {
    concurrency: 1,
    timeScale: 100,
  });
  const busy = lambda.invoke('full', '{"ms":200}');
  const { promise, resolve } = Promise.withResolvers<InvokeResult | undefined>();
  await lambda.invoke('full', '{}', { event: true, onAttempt: resolve });
  // After 10, 20, 40, 80 and 160 ms.
  expect((await promise)?.payload).toBe('2');
  expect((await busy).payload).toBe('1');
});

it('one that is throttled until it is too old is given up without an attempt', async () => {
  const records: InvocationRecord[] = [];
  const asynchronous = { maximumEventAgeSeconds: 60, onFailure: 'arn:queue' };
  const lambda = bench.open([bench.define('old', source, { asynchronous })], {
    concurrency: 1,
    timeScale: 1_000,
    onGivenUp: (_destination, record) => records.push(record),
  });
  const busy = lambda.invoke('old', '{"ms":400}');
  await lambda.invoke('old', '{}', { event: true });
  await until(() => records.length > 0);
  expect(records[0]?.requestContext).toMatchObject({ condition: 'EventAgeExceeded', approximateInvokeCount: 0 });
  await busy;
});
