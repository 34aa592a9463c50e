import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { AwsError } from '../../aws-error.ts';
import type { Entry } from '../../dynamodb/stream/index.ts';
import { createShard } from '../../dynamodb/stream/shard.ts';
import { lanesOf } from '../../event-source/lanes.ts';
import { type PollerOptions, pollShard } from '../../event-source/poller.ts';
import type { EventSourceMapping } from '../../event-source/types.ts';
import { noFaults } from '../../faults/index.ts';
import type { InvokeResult } from '../../lambda/index.ts';
import { createQueues } from '../../sqs/queues.ts';

const MAPPING: EventSourceMapping = {
  logicalId: 'Mapping',
  streamArn: 'arn:stream',
  functionArn: 'arn:fn',
  roleArn: 'arn:role',
  batchSize: 100,
  parallelizationFactor: 1,
  batchingWindowSeconds: 0,
  maximumRetryAttempts: 2,
  maximumRecordAgeSeconds: Number.POSITIVE_INFINITY,
  bisects: false,
  reportsFailures: false,
  wants: () => true,
  onFailure: 'arn:dead',
};
const NUMBER = '17000000000000000000000';
const entryOf = (id: number, more: object = {}): Entry => ({
  table: 'things',
  shard: 0,
  at: Date.now(),
  record: {
    eventID: String(id),
    eventName: 'INSERT',
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: 'us-east-1',
    dynamodb: {
      ApproximateCreationDateTime: 1_700_000_000 + id,
      Keys: { id: { N: String(id) } },
      SequenceNumber: `${NUMBER}${id}`,
      SizeBytes: 1,
      StreamViewType: 'KEYS_ONLY',
      ...more,
    },
    eventSourceARN: 'arn:stream',
  },
});

const OK: InvokeResult = { statusCode: 200, payload: 'null', executedVersion: '$LATEST' };
const FAILED: InvokeResult = { ...OK, payload: '{}', functionError: 'Unhandled' };
const report = (...ids: number[]): InvokeResult => ({
  ...OK,
  payload: JSON.stringify({ batchItemFailures: ids.map((id) => ({ itemIdentifier: `${NUMBER}${id}` })) }),
});

type Answer = (ids: readonly number[], call: number) => InvokeResult | Error;
let stop = () => {};
beforeEach(() => vi.setSystemTime(1_700_000_100_000));
afterEach(() => {
  stop();
  vi.useRealTimers();
});

/**
 * Polls a shard with these records until it is empty. Only pauses let time pass, and they take none. Returns the batches the
 * function got, by id.
 */
async function poll(entries: readonly Entry[], more: Partial<EventSourceMapping>, answer: Answer, timeScale = 100) {
  let stopped = false;
  const batches: number[][] = [];
  const errors: string[] = [];
  const pauses: number[] = [];
  const queues = createQueues({ standard: [{ name: 'dead', arn: 'arn:dead' }] }, { now: () => 7 });
  const { promise: drained, resolve } = Promise.withResolvers<void>();
  const shard = createShard(0, () => shard.entries.length === 0 && resolve());
  for (const entry of entries) shard.add(entry);
  const options: PollerOptions = {
    lambda: {
      async invoke(_name, payload) {
        const ids = JSON.parse(payload).Records.map(({ eventID }: { eventID: string }) => Number(eventID));
        const result = answer(ids, batches.push(ids) - 1);
        if (result instanceof Error) throw result;
        return result;
      },
    },
    queues,
    bench: noFaults,
    now: () => 1_700_000_100_000,
    timeScale,
    async pause(milliseconds) {
      pauses.push(milliseconds * timeScale);
      vi.setSystemTime(Date.now() + milliseconds);
    },
    stopped: () => stopped,
    onError: (message) => errors.push(message),
  };
  stop = () => {
    stopped = true;
  };
  const mapping = { ...MAPPING, ...more };
  for (const lane of lanesOf(shard, mapping.parallelizationFactor)) void pollShard(mapping, lane, options);
  await drained;
  const dead = queues.messages.get('dead')?.map(({ body }) => JSON.parse(body)) ?? [];
  return { batches, dead, errors, pauses, shard };
}
const entries = (count: number, more: object = {}) => Array.from({ length: count }, (_, id) => entryOf(id, more));

test('records come in batches of the size, in their order', async () => {
  const { batches } = await poll(entries(5), { batchSize: 2 }, () => OK);
  expect(batches).toEqual([[0, 1], [2, 3], [4]]);
});

test('with several batches at once, one that fails delays the later records of its items only', async () => {
  // Twenty items, of each a record in the first half and one in the second.
  const both = entries(40).map((entry, id) => {
    const Keys = { id: { N: String(id % 20) } };
    return { ...entry, record: { ...entry.record, dynamodb: { ...entry.record.dynamodb, Keys } } };
  });
  const failing: number[] = [];
  const answer: Answer = (ids) => {
    if (failing.length < 3 && ids.includes(0)) return failing.push(...ids) > 0 ? FAILED : OK;
    return OK;
  };
  const { batches } = await poll(both, { batchSize: 5, parallelizationFactor: 4 }, answer);
  const order = batches.flat();
  for (let item = 0; item < 20; item++) expect(order.lastIndexOf(item + 20)).toBeGreaterThan(order.lastIndexOf(item));
  const again = order.lastIndexOf(0);
  expect(order.slice(0, again).filter((id) => id >= 20).length).toBeGreaterThan(0);
  expect(batches.every((ids) => ids.length <= 5)).toBe(true);
});

test('a batch ends before 6 MB', async () => {
  const big = { NewImage: { text: { S: 'x'.repeat(1_500_000) } } };
  const { batches } = await poll(entries(6, big), {}, () => OK);
  expect(batches).toEqual([
    [0, 1, 2, 3],
    [4, 5],
  ]);
});

test('a failed batch is tried again as a whole, and the next one waits', async () => {
  const { batches, dead, pauses } = await poll(entries(3), { batchSize: 2 }, (_ids, call) => (call < 2 ? FAILED : OK));
  expect(batches).toEqual([[0, 1], [0, 1], [0, 1], [2]]);
  expect([dead, pauses]).toEqual([[], [1_000, 2_000]]);
});

test('a batch that fails too often is given up, with a message as AWS sends it', async () => {
  const { batches, dead, errors } = await poll(entries(3), { batchSize: 2 }, (ids) => (ids.includes(0) ? FAILED : OK));
  expect(batches).toEqual([[0, 1], [0, 1], [0, 1], [2]]);
  expect(dead).toEqual([
    {
      requestContext: {
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        functionArn: 'arn:fn',
        condition: 'RetryAttemptsExhausted',
        approximateInvokeCount: 3,
      },
      responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
      version: '1.0',
      timestamp: '2023-11-14T22:15:00.000Z',
      DDBStreamBatchInfo: {
        shardId: expect.stringMatching(/^shardId-\d{20}-[0-9a-f]{8}$/),
        startSequenceNumber: `${NUMBER}0`,
        endSequenceNumber: `${NUMBER}1`,
        approximateArrivalOfFirstRecord: '2023-11-14T22:13:20Z',
        approximateArrivalOfLastRecord: '2023-11-14T22:13:21Z',
        batchSize: 2,
        streamArn: 'arn:stream',
      },
    },
  ]);
  expect(errors).toEqual(['Mapping gave up 2 records: RetryAttemptsExhausted']);
});

test('without a destination, records that are given up are lost', async () => {
  const { onFailure: _, ...plain } = MAPPING;
  const { dead, errors } = await poll(entries(1), { ...plain, onFailure: undefined as never }, () => FAILED);
  expect([dead, errors.length]).toEqual([[], 1]);
});

test.each([
  new AwsError('TooManyRequestsException', 'Rate Exceeded.', 429),
  new AwsError('ServiceException', 'no', 500),
])('a batch that Lambda does not take is tried again, beyond the retries: %s', async (error) => {
  const { batches, dead } = await poll(entries(1), {}, (_ids, call) => (call < 6 ? error : OK));
  expect([batches.length, dead]).toEqual([7, []]);
});

describe('an old record', () => {
  test('is given up without a call, and the others of its batch are not', async () => {
    const old = { ...entryOf(0), at: Date.now() - 61_000 };
    const { batches, dead } = await poll([old, entryOf(1)], { maximumRecordAgeSeconds: 60 }, () => OK, 1);
    expect(batches).toEqual([[1]]);
    expect(dead).toHaveLength(1);
    expect(dead[0]).toMatchObject({
      requestContext: { condition: 'RecordAgeExceeded', approximateInvokeCount: 0 },
      DDBStreamBatchInfo: { batchSize: 1 },
    });
    expect(dead[0]).not.toHaveProperty('responseContext');
  });

  test('is tried as long as it is young enough, in the time of the cloud', async () => {
    const answer: Answer = () => new AwsError('TooManyRequestsException', 'Rate Exceeded.', 429);
    const { batches, dead } = await poll([entryOf(0)], { maximumRecordAgeSeconds: 60 }, answer, 1_000);
    // At once, and after 1, 3, 7, 15 and 31 seconds.
    expect(batches).toHaveLength(6);
    expect(dead[0]).toMatchObject({ requestContext: { condition: 'RecordAgeExceeded' } });
  });

  test('is gone after 24 hours in any case', async () => {
    const { batches, dead } = await poll([{ ...entryOf(0), at: Date.now() - 86_401_000 }], {}, () => OK, 1);
    expect([batches, dead.length]).toEqual([[], 1]);
  });
});

describe('a function that reports failures', () => {
  const reports = { reportsFailures: true };
  test('gets the records from the first failed one on, once more', async () => {
    const { batches } = await poll(entries(5), reports, (_ids, call) => (call === 0 ? report(3, 2) : OK));
    expect(batches).toEqual([
      [0, 1, 2, 3, 4],
      [2, 3, 4],
    ]);
  });

  test('gets no finished record again when the others are given up', async () => {
    const { batches, dead } = await poll(entries(3), reports, () => report(1));
    expect(batches).toEqual([
      [0, 1, 2],
      [1, 2],
      [1, 2],
    ]);
    expect(dead[0].DDBStreamBatchInfo).toMatchObject({ startSequenceNumber: `${NUMBER}1`, batchSize: 2 });
    expect(dead[0].responseContext).toEqual({ statusCode: 200, executedVersion: '$LATEST' });
  });

  const COMPLETE = ['null', '', '{}', '{"batchItemFailures":null}', '{"batchItemFailures":[]}', '{"other":1}'];
  test.each(COMPLETE)('has done all if it answers %j', async (payload) => {
    expect((await poll(entries(2), reports, () => ({ ...OK, payload }))).batches).toEqual([[0, 1]]);
  });

  test.each([
    '{"batchItemFailures":[{"itemIdentifier":""}]}',
    '{"batchItemFailures":[{"itemIdentifier":null}]}',
    '{"batchItemFailures":[{"id":"170000000000000000000001"}]}',
    '{"batchItemFailures":[{"itemIdentifier":"1"}]}',
    '{"batchItemFailures":"no"}',
    '"text"',
  ])('has done nothing if it answers %j', async (payload) => {
    const { batches } = await poll(entries(2), reports, (_ids, call) => (call === 0 ? { ...OK, payload } : OK));
    expect(batches).toEqual([
      [0, 1],
      [0, 1],
    ]);
  });

  test('counts only if the mapping says so', async () => {
    expect((await poll(entries(2), {}, () => report(0))).batches).toEqual([[0, 1]]);
  });
});

describe('bisecting', () => {
  const bisects = { bisects: true };
  test('isolates the bad record, and splitting takes no retry', async () => {
    const answer: Answer = (ids) => (ids.includes(2) ? FAILED : OK);
    const { batches, dead } = await poll(entries(5), bisects, answer);
    expect(batches).toEqual([[0, 1, 2, 3, 4], [0, 1, 2], [0, 1], [2], [2], [2], [3, 4]]);
    expect(dead.map(({ DDBStreamBatchInfo: { batchSize } }) => batchSize)).toEqual([1]);
    expect(dead[0].requestContext.approximateInvokeCount).toBe(3);
  });

  test('goes by the report of the function', async () => {
    const answer: Answer = (ids) => (ids.includes(2) ? report(2) : OK);
    const { batches, dead } = await poll(entries(5), { ...bisects, reportsFailures: true }, answer);
    expect(batches).toEqual([[0, 1, 2, 3, 4], [2, 3, 4], [2, 3], [2], [2], [2], [3], [4]]);
    expect(dead[0].DDBStreamBatchInfo).toMatchObject({ startSequenceNumber: `${NUMBER}2`, batchSize: 1 });
  });
});

test('a mapping skips records that its filters do not want', async () => {
  const even = { wants: ({ eventID }: { eventID?: unknown }) => Number(eventID) % 2 === 0, batchSize: 2 };
  const { batches } = await poll(entries(6), even, () => OK);
  expect(batches).toEqual([[0, 2], [4]]);
});

describe('a batching window', () => {
  test('is waited for, in the time of the cloud', async () => {
    const { batches, pauses } = await poll(entries(2), { batchingWindowSeconds: 100 }, () => OK, 1_000);
    expect([batches, pauses]).toEqual([[[0, 1]], [100_000]]);
  });

  test('ends early when the batch is full', async () => {
    const { batches } = await poll(entries(4), { batchingWindowSeconds: 300, batchSize: 2 }, () => OK, 1);
    expect(batches).toEqual([
      [0, 1],
      [2, 3],
    ]);
  });
});
