import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { liesInS3, storedFrames } from '../../../../functions/mcp/stream/stored-frames.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { measured } from '../../../../functions/tasks/results/result-ref.ts';
import { modernMessage } from '../../../support/clients.ts';
import { fakeServer } from '../support/fake-server.ts';
import { endpoint } from '../support/posted.ts';

const records = (count: number) => Array.from({ length: count }, (_, i) => ({ taskId: `t${i}` }) as TaskRecord);
const idsOf = async (frames: AsyncIterable<{ readonly record: TaskRecord }>) => {
  const ids: string[] = [];
  for await (const { record } of frames) ids.push(record.taskId);
  return ids;
};
const soon = async () => {
  for (let i = 0; i < 10; i++) await setImmediate();
};
const never = () => new Promise<never>(() => {});

describe('frames that need an object of S3', () => {
  test('at most four are made at once', async () => {
    let now = 0;
    let most = 0;
    const frames = storedFrames(async ({ taskId }) => {
      most = Math.max(most, ++now);
      await setImmediate();
      now--;
      return taskId;
    });
    expect(await idsOf(frames.of(records(20), never))).toHaveLength(20);
    expect(most).toBe(4);
  });

  test('a slow one delays no other, and a later call yields it without a second fetch', async () => {
    const slow = Promise.withResolvers<string>();
    let fetched = 0;
    const frames = storedFrames(async ({ taskId }) => {
      fetched++;
      return taskId === 't0' ? slow.promise : taskId;
    });
    expect(await idsOf(frames.of(records(10), soon))).toEqual(['t1', 't2', 't3', 't4', 't5', 't6', 't7', 't8', 't9']);
    expect(await idsOf(frames.of(records(1), soon))).toEqual([]);
    slow.resolve('late');
    expect(await idsOf(frames.of([], soon))).toEqual(['t0']);
    expect(fetched).toBe(10);
  });

  test('objects that fail again and again do not keep the others from their turn', async () => {
    const frames = storedFrames(async ({ taskId }) => {
      // Longer than the timeout of one call.
      if (Number(taskId.slice(1)) < 4) for (let i = 0; i < 12; i++) await setImmediate();
      return Number(taskId.slice(1)) < 4 ? undefined : taskId;
    });
    const seen: string[] = [];
    for (let i = 0; i < 3; i++) seen.push(...(await idsOf(frames.of(records(6), soon))));
    expect(seen).toContain('t4');
    expect(seen).toContain('t5');
  });

  test('that did not come yield nothing, and wait until the others had their turn', async () => {
    const fetched: string[] = [];
    const frames = storedFrames(async ({ taskId }) => {
      fetched.push(taskId);
      return ['t0', 't1'].includes(taskId) ? undefined : taskId;
    });
    const all = records(6);
    expect(await idsOf(frames.of(all.slice(0, 2), never))).toEqual([]);
    expect(await idsOf(frames.of(all, never))).toEqual(['t2', 't3', 't4', 't5']);
    expect(fetched).toEqual(['t0', 't1', 't2', 't3', 't4', 't5', 't0', 't1']);
  });

  test('while S3 refuses all, each read asks for one result only, as each failure is a line of log', async () => {
    let fetched = 0;
    const frames = storedFrames(async () => void fetched++);
    for (let reads = 1; reads <= 50; reads++) await idsOf(frames.of(records(100), never));
    expect(fetched).toBe(4 + 49);
  });

  test('are settled once no fetch is left', async () => {
    const slow = Promise.withResolvers<string>();
    const frames = storedFrames(() => slow.promise);
    expect(await idsOf(frames.of(records(1), soon))).toEqual([]);
    let settled = false;
    const done = frames.settled().then(() => {
      settled = true;
    });
    await soon();
    expect(settled).toBe(false);
    slow.resolve('late');
    await done;
  });

  test('lie in S3: a result with a reference, and questions that were moved', () => {
    const result = JSON.stringify({ resultRef: measured('x'.repeat(limits.result.inline + 1)) });
    const [record] = records(1) as [TaskRecord];
    expect(liesInS3({ ...record, status: 'completed', result })).toBe(true);
    expect(liesInS3({ ...record, status: 'input_required' })).toBe(false);
    expect(liesInS3({ ...record, status: 'completed', result: '1' })).toBe(false);
    expect(liesInS3({ ...record, status: 'input_required', inputRef: 'a.1' })).toBe(true);
    expect(liesInS3({ ...record, status: 'input_required', inputRef: 'a.1', asked: '{}' })).toBe(false);
    expect(liesInS3({ ...record, status: 'working', inputRef: 'a.1' })).toBe(false);
  });
});

/** A client listens to four tasks: the first and second result lie in S3, which is silent about the first. */
async function listening() {
  let now = 1_700_000_000_000;
  const text = JSON.stringify('x'.repeat(limits.result.inline));
  const silent = Promise.withResolvers<string>();
  const { server, records: stored } = fakeServer({
    now: () => now,
    async sleep(ms) {
      await soon();
      now += ms;
    },
    results: { get: ({ taskId }) => (taskId === ids[0] ? silent.promise : Promise.resolve(text)) },
  });
  const send = (method: string, params: Record<string, unknown>) => {
    const { body, headers } = modernMessage(method, params);
    const all = { accept: 'application/json, text/event-stream', ...headers } as Record<string, string>;
    return endpoint({ method: 'POST', headers: all, body: JSON.stringify(body) }, server);
  };
  for (let i = 0; i < 4; i++) await send('tools/call', { name: 'optional', arguments: {} });
  const ids = stored.ids();
  const end = (i: number, result: string) => {
    const record = stored.get(ids[i] ?? '') as TaskRecord;
    stored.set({ ...record, status: 'completed', result, updatedAt: now });
  };
  const reference = JSON.stringify({ resultRef: measured(text) });
  end(0, reference);
  end(1, reference);
  end(2, '"small"');
  const { body } = await send('subscriptions/listen', { notifications: { taskIds: ids } });
  /** The number of the task in a frame, and its status. */
  const toldIn = (frame: Buffer) => {
    const { params } = JSON.parse(/^data: (.*)$/m.exec(String(frame))?.[1] ?? '{}');
    return params?.taskId === undefined ? [] : [`${ids.indexOf(params.taskId)} ${params.status}`];
  };
  return { body: body as Readable, toldIn, end, comes: () => silent.resolve(text) };
}

test('subscriptions/listen: while S3 is silent about one task, it reports the others (E-26)', async () => {
  const { body, toldIn, end, comes } = await listening();
  const told: string[] = [];
  for await (const frame of body) {
    told.push(...toldIn(frame));
    // The last task ends while the first one is still unread.
    if (told.at(-1) === '1 completed') end(3, '1');
    if (told.at(-1) === '3 completed') comes();
  }
  expect(told).toEqual(['2 completed', '3 working', '1 completed', '3 completed', '0 completed']);
});

test('subscriptions/listen: a stream whose reader leaves closes once no fetch is left', async () => {
  const { body, toldIn, comes } = await listening();
  let closed = false;
  body.once('close', () => {
    closed = true;
  });
  const left = Promise.withResolvers<void>();
  body.on('data', (frame: Buffer) => {
    if (!toldIn(frame).includes('1 completed')) return;
    // The fetch of the first result is under way.
    body.destroy();
    left.resolve();
  });
  await left.promise;
  for (let i = 0; i < 5; i++) await soon();
  expect(closed).toBe(false);
  comes();
  await soon();
  expect(closed).toBe(true);
});
