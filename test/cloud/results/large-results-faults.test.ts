import { beforeEach, describe, expect, test } from 'vitest';
import { measured } from '../../../functions/tasks/results/result-ref.ts';
import { type Cloud, startCloud } from '../../../local/cloud.ts';
import { temporaryDir } from '../../../local/test/fixture.ts';
import { largeResult } from '../../support/apps/large-tools.ts';
import { clientsOf, expectSame, useLargeCloud } from '../../support/large-cloud.ts';

const large = useLargeCloud();
const { finished, legacyFinished, session, get, plain, listen, keyOf, object } = clientsOf(large);
const LARGE = 5_500_000;
const DAY = 86_400_000;
beforeEach(() => {
  large.s3 = 'up';
});

const unread = (taskId: string) => ({
  code: -32603,
  message: `The result of task ${taskId} cannot be read at the moment: ask for it again, the task itself is complete`,
  data: { reason: 'ResultUnavailable', taskId },
});

describe('a forged reference shows nothing of another task (C-28, E-15)', () => {
  test('of the same size as another one, it is read under its own task only', async () => {
    const bytes = 200_001;
    await finished('large', { bytes });
    const { sha256 } = measured(JSON.stringify(largeResult(bytes)));
    const taskId = await finished('raw', { value: { resultRef: { bytes, sha256 } } });
    const answer = await get(taskId);
    expect(answer.error).toEqual(unread(taskId));
    expect(JSON.stringify(answer)).not.toContain('größer');
  });
});

describe('a text that another tool has put in the place of a result', () => {
  test('of the same length is shown to no client', async () => {
    const bytes = 200_004;
    const client = await session();
    const legacy = await legacyFinished(client, 'large', { bytes });
    const legacyKey = keyOf(legacy);
    const taskId = await finished('large', { bytes });
    const key = keyOf(taskId);
    const stored = JSON.stringify(largeResult(bytes));
    const forged = stored.replace(/[a-z]/, 'Z');
    expect([forged.length, forged === stored]).toEqual([stored.length, false]);
    for (const of of [key, legacyKey]) await object('PUT', of, forged);
    expect((await get(taskId)).error).toEqual(unread(taskId));
    expect((await plain('get_task_result', { taskId })).error).toEqual(unread(taskId));
    expect((await client.request('tasks/result', { taskId: legacy })).body.error).toEqual(unread(legacy));
    // The text itself is shown again once it is back.
    await object('PUT', key, stored);
    expectSame((await get(taskId)).result.result, largeResult(bytes));
  });
});

describe('while S3 does not answer', () => {
  test.each(['failing', 'unreachable'] as const)(
    '%s: a reader is asked to retry, then gets the result; no status changes',
    async (how) => {
      const wanted = largeResult(LARGE);
      const client = await session();
      const legacy = await legacyFinished(client, 'large', { bytes: LARGE });
      const taskId = await finished('large', { bytes: LARGE });

      large.s3 = how;
      expect((await get(taskId)).error).toEqual(unread(taskId));
      expect((await plain('get_task_result', { taskId })).error).toEqual(unread(taskId));
      expect((await client.request('tasks/result', { taskId: legacy })).body.error).toEqual(unread(legacy));
      expect((await client.request('tasks/get', { taskId: legacy })).body.result.status).toBe('completed');
      expect((await client.request('tasks/list')).body.result.tasks[0].status).toBe('completed');

      // A listener gets no task without its result. It gets the task once the result can be read.
      setTimeout(() => {
        large.s3 = 'up';
      }, 1_500);
      const notified = await listen(taskId);
      expect(notified).toHaveLength(1);
      expectSame(notified[0].result, wanted);
      expectSame((await get(taskId)).result.result, wanted);
      expectSame((await client.request('tasks/result', { taskId: legacy })).body.result, wanted);
    },
  );

  test('a call without a task names the task it ran as, so a client need not call twice', async () => {
    large.s3 = 'failing';
    const { error } = await plain('large', { bytes: 200_000 });
    expect(error).toEqual(unread(error.data.taskId));
    large.s3 = 'up';
    const { content, structuredContent } = (await plain('get_task_result', { taskId: error.data.taskId })).result;
    expectSame({ content, structuredContent: structuredContent.result }, largeResult(200_000));
  });

  test('an object of a try that died is not taken for the result of the next', async () => {
    const taskId = await finished('crashes', { bytes: 200_000 });
    expect(keyOf(taskId, '-a1')).toContain(taskId);
    expectSame((await get(taskId)).result.result, largeResult(200_000));
  });
});

test('on Express, two runs of a round store two results: the one that counts stays whole', async () => {
  const twice = large.cloud.faults.add({ service: 'states', operation: 'RunExpress', do: 'double', times: 5 });
  const mark = large.cloud.calls.mark();
  const made = await Promise.all([1, 2, 3, 4, 5].map(() => finished('differs', { bytes: 200_000 })));
  const running = () => large.cloud.stepFunctions.executions().filter(({ status }) => status === 'RUNNING');
  await expect.poll(running).toEqual([]);
  const puts = large.cloud.calls.since(mark).filter(({ operation }) => operation === 'PutObject');
  expect(new Set(puts.map(({ input }) => (input as { Key: string }).Key)).size).toBe(2 * made.length);
  for (const taskId of made) {
    expect((await get(taskId)).result).toMatchObject({ status: 'completed', result: { structuredContent: { n: 1 } } });
  }
  expect(twice.hits).toBe(made.length);
});

describe('in a separate cloud', () => {
  async function within<T>(cloud: Cloud, work: () => Promise<T>): Promise<T> {
    const usual = large.cloud;
    large.cloud = cloud;
    try {
      return await work();
    } finally {
      large.cloud = usual;
      await cloud.stop();
    }
  }

  test('after expiry nothing is left, of 5.5 MB and of 6.5 MB', async () => {
    let ahead = 0;
    const { assembly } = large;
    const cloud = await startCloud({ assembly, recordCalls: true, now: () => Date.now() + ahead });
    await within(cloud, async () => {
      const taskId = await finished('large', { bytes: LARGE });
      const key = keyOf(taskId);
      await finished('large', { bytes: 6_500_000 });
      expect((await object('HEAD', key)).status).toBe(200);
      expect(await cloud.sweepExpired()).toBe(0);
      // With a maxTtl of one day: two days, and on to the next midnight.
      ahead = 3 * DAY;
      expect(await cloud.sweepExpired()).toBe(3);
      expect((await object('HEAD', key)).status).toBe(404);
      expect((await get(taskId)).error).toMatchObject({ code: -32602 });
    });
  });

  test('a restart on the same data keeps it', async () => {
    const options = { assembly: large.assembly, recordCalls: true, dataDir: temporaryDir() };
    const taskId = await within(await startCloud(options), () => finished('large', { bytes: LARGE }));
    await within(await startCloud(options), async () => {
      expectSame((await get(taskId)).result.result, largeResult(LARGE));
    });
  });
});
