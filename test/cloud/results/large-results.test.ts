import { describe, expect, test } from 'vitest';
import { resultStore } from '../../../functions/tasks/results/result-store.ts';
import { largeResult } from '../../support/apps/large-tools.ts';
import { type Answer, openStream } from '../../support/clients.ts';
import { clientsOf, expectSame, useLargeCloud } from '../../support/large-cloud.ts';

const large = useLargeCloud();
const { url, s3Calls, finished, legacyFinished, session, get, plain, listen } = clientsOf(large);
const LARGE = 5_500_000;
const RELATED = 'io.modelcontextprotocol/related-task';

describe('5.5 MB of content of every kind arrive unchanged', () => {
  const wanted = largeResult(LARGE);

  test('2026-07-28: tasks/get, get_task_result and a notification, one read of S3 each', async () => {
    const mark = large.cloud.calls.mark();
    const taskId = await finished('large', { bytes: LARGE });
    expect(s3Calls(mark)).toEqual(['PutObject']);
    const { result: task } = await get(taskId);
    expect(task.status).toBe('completed');
    expectSame(task.result, wanted);
    expect(s3Calls(mark)).toEqual(['PutObject', 'GetObject']);

    const { content, structuredContent } = (await plain('get_task_result', { taskId })).result;
    expect(structuredContent).toMatchObject({ taskId, status: 'completed' });
    expectSame({ content, structuredContent: structuredContent.result }, wanted);
    expect(s3Calls(mark)).toEqual(['PutObject', 'GetObject', 'GetObject']);

    const [notified] = await listen(taskId);
    expect(notified.status).toBe('completed');
    expectSame(notified.result, wanted);
    expect(s3Calls(mark)).toEqual(['PutObject', 'GetObject', 'GetObject', 'GetObject']);
  });

  test('2025-11-25: tasks/result; status and list without a read of S3', async () => {
    const client = await session();
    const taskId = await legacyFinished(client, 'large', { bytes: LARGE });
    const mark = large.cloud.calls.mark();
    expect((await client.request('tasks/get', { taskId })).body.result.status).toBe('completed');
    expect((await client.request('tasks/list')).body.result.tasks).toMatchObject([{ taskId, status: 'completed' }]);
    expect(s3Calls(mark)).toEqual([]);
    const { result } = (await client.request('tasks/result', { taskId })).body;
    expectSame(result, wanted);
    expect(result._meta).toEqual({ [RELATED]: { taskId } });
    expect(s3Calls(mark)).toEqual(['GetObject']);
  });

  test('a call without a task, in JSON and on a stream', async () => {
    expectSame((await plain('large', { bytes: LARGE })).result, wanted);
    const client = await session();
    const params = { name: 'large', arguments: { bytes: LARGE } };
    const { body } = await client.request('tools/call', params, { accept: 'application/json' });
    expectSame(body.result, wanted);
    const message = { jsonrpc: '2.0', id: 's', method: 'tools/call', params };
    const stream = await openStream(url(), message, { ...client.headers, accept: 'text/event-stream' });
    const messages: Answer['body'][] = [];
    for await (const { data } of stream.events) messages.push(data);
    expectSame(messages.at(-1).result, wanted);
  });
});

test.each([
  [1_500, []],
  [1_501, ['PutObject', 'GetObject']],
  [6_000_000, ['PutObject', 'GetObject']],
])('the limits, to the byte: %i take %j', async (bytes, operations) => {
  const mark = large.cloud.calls.mark();
  expectSame((await get(await finished('large', { bytes }))).result.result, largeResult(bytes));
  expect(s3Calls(mark)).toEqual(operations);
});

test.each([
  ['that is large', 'x'.repeat(1_499), 2],
  ['that needs most escapes in the workflow', '"'.repeat(63_999), 2],
  ['only if it does not fit', 'x'.repeat(1_400), 0],
])('a function that stores nothing: the server stores its result %s', async (_what, value, puts) => {
  const mark = large.cloud.calls.mark();
  const taskId = await finished('raw', { value });
  // The first put has its arguments.
  expect(s3Calls(mark)).toEqual(Array.from({ length: puts }, () => 'PutObject'));
  const { result: task } = await get(taskId);
  expect(task).toMatchObject({ status: 'completed', result: { content: [{ type: 'text', text: value }] } });
});

test('no end of a task makes its record larger than one read unit', async () => {
  for (const [tool, args] of [
    ['raw', { value: 'x'.repeat(100_000) }],
    ['large', { bytes: 100_000 }],
  ] as const) {
    const taskId = await finished(tool, args);
    const mark = large.cloud.calls.mark();
    const client = await session();
    await client.request('tasks/get', { taskId });
    const reads = large.cloud.calls
      .since(mark)
      .flatMap(({ operation, consumed }) => (operation === 'GetItem' && consumed ? [consumed.table] : []));
    expect(Math.max(...reads)).toBe(1);
  }
});

test('a small result costs no call of S3, in either revision', async () => {
  const mark = large.cloud.calls.mark();
  const client = await session();
  const taskId = await legacyFinished(client, 'promise', { bytes: 1_000 });
  for (const method of ['tasks/get', 'tasks/list', 'tasks/result']) await client.request(method, { taskId });
  await get(await finished('promise', { bytes: 1_000 }));
  await plain('promise', { bytes: 1_000 });
  await plain('get_task_result', { taskId: await finished('large', { bytes: 1_000 }) });
  expect(s3Calls(mark)).toEqual([]);
});

test('6.5 MB fail in both revisions with the reason and the remedy, and nothing is stored', async () => {
  const why = /result takes 6500000 bytes as JSON, and a result may take 6000000 at most\. .* resource_link/;
  const mark = large.cloud.calls.mark();
  const { result: task } = await get(await finished('large', { bytes: 6_500_000 }));
  expect(task).toMatchObject({ status: 'completed', result: { isError: true } });
  expect(task.result.content[0].text).toMatch(why);
  expect((await plain('large', { bytes: 6_500_000 })).result.content[0].text).toMatch(why);

  const client = await session();
  const taskId = await legacyFinished(client, 'large', { bytes: 6_500_000 });
  const { result: legacy } = (await client.request('tasks/get', { taskId })).body;
  expect(legacy).toMatchObject({ status: 'failed', statusMessage: expect.stringMatching(why) });
  expect((await client.request('tasks/result', { taskId })).body.result).toMatchObject({ isError: true });
  expect(s3Calls(mark)).toEqual([]);
});

describe('a large result is judged like a small one', () => {
  const broken = { bytes: 200_000, broken: true };
  const kept = { bytes: 200_000 };
  const why = 'Tool promise returned structured content that does not fit its outputSchema';

  test('2026-07-28: one that breaks its outputSchema is an error in every answer (A-19)', async () => {
    const taskId = await finished('promise', broken);
    const wanted = { content: [{ type: 'text', text: why }], isError: true };
    expect((await get(taskId)).result.result).toMatchObject(wanted);
    expect((await plain('get_task_result', { taskId })).result).toMatchObject(wanted);
    expect((await plain('promise', broken)).result).toMatchObject(wanted);
    expect((await get(await finished('promise', kept))).result.result.structuredContent).toEqual({ n: 1 });
  });

  test('2025-11-25: its task has failed (F-06)', async () => {
    const client = await session();
    const taskId = await legacyFinished(client, 'promise', broken);
    const { result: task } = (await client.request('tasks/get', { taskId })).body;
    expect(task).toMatchObject({ status: 'failed', statusMessage: why });
    expect((await client.request('tasks/result', { taskId })).body.result).toMatchObject({ isError: true });
    const other = await legacyFinished(client, 'promise', kept);
    expect((await client.request('tasks/get', { taskId: other })).body.result.status).toBe('completed');
  });

  test('a large error is known as one without a read of S3, and arrives whole (F-06)', async () => {
    const client = await session();
    const taskId = await legacyFinished(client, 'large', { bytes: 200_000, isError: true });
    const mark = large.cloud.calls.mark();
    const { result: task } = (await client.request('tasks/get', { taskId })).body;
    const { text } = largeResult(200_000, true).content[0] as unknown as { text: string };
    expect(task).toMatchObject({ status: 'failed', statusMessage: text.slice(0, 500) });
    expect(s3Calls(mark)).toEqual([]);
    expectSame((await client.request('tasks/result', { taskId })).body.result, largeResult(200_000, true));
  });
});

test('an object that is gone is AccessDenied for a role that may not list the bucket, as on AWS', async () => {
  const { cloud } = large;
  const mark = cloud.calls.mark();
  await get(await finished('large', { bytes: 300_000 }));
  const read = cloud.calls.since(mark).find(({ operation }) => operation === 'GetObject');
  const { buckets, endpoint, region } = cloud;
  const gone = (accessKeyId = '') => {
    const credentials = async () => ({ accessKeyId, secretAccessKey: 'test' });
    const store = resultStore({ bucket: buckets[0] ?? '', endpoint, region, credentials });
    return store.get({ owner: 'o', taskId: 'gone', round: 1 });
  };
  await expect(gone(read?.caller)).rejects.toMatchObject({ code: 'AccessDenied' });
  await expect(gone('administrator')).rejects.toMatchObject({ code: 'NoSuchKey' });
});
