import { afterEach, describe, expect, test } from 'vitest';
import { useCrashCloud } from '../../proofs/faults/crash-table/cloud.ts';
import {
  type Answer,
  ended,
  legacySession,
  modernMessage,
  modernRequest,
  openStream,
  poll,
} from '../../support/clients.ts';

/** Reads of polls, streams and lists do not grow with the texts of a client or the questions of a tool. */
const { cloud, url, stored } = useCrashCloud();
const KB = 1_000;
const READ_UNIT = 4_096;
const WORD = 'größer "quoted" '.repeat(2_500);
const TEXT = 'x'.repeat(190 * KB);
const asks = ({ status }: Answer['body']) => status === 'input_required' || status === 'failed';
const accept = (more: object = {}) => ({ action: 'accept', content: { ok: true, ...more } });

const call = async (name: string, args: object): Promise<Answer['body']> =>
  (await modernRequest(url(), 'tools/call', { name, arguments: args })).body;
const start = async (name: string, args: object): Promise<string> => (await call(name, args)).result.taskId;
const update = (taskId: string, inputResponses: object) =>
  modernRequest(url(), 'tasks/update', { taskId, inputResponses });
const getTask = async (taskId: string) => (await modernRequest(url(), 'tasks/get', { taskId })).body;
const sizeOf = async (taskId: string) => Buffer.byteLength(JSON.stringify(await stored(taskId)));
/** The read units of each request for records since then. Reports of runs are other items. */
const unitsOf = (mark: number): number[] =>
  cloud()
    .calls.since(mark)
    .filter(({ operation, caller }) => /^(GetItem|BatchGetItem|Query)$/.test(operation) && /Endpoint/.test(caller))
    .filter(({ input }) => !/"(?:progress)?#/.test(JSON.stringify(input)))
    .map(({ consumed }) => consumed?.table ?? Number.NaN);
const s3Since = (mark: number): string[] =>
  cloud()
    .calls.since(mark)
    .flatMap(({ service, operation }) => (service === 's3' ? [operation] : []));

describe('a task with large arguments', () => {
  test('costs one read unit per read while it is open, and the tool gets its arguments whole', async () => {
    const mark = cloud().calls.mark();
    const taskId = await start('ask_twice', { text: TEXT });
    expect(s3Since(mark)).toEqual(['PutObject']);
    await poll(url(), taskId, asks);
    expect(await sizeOf(taskId)).toBeLessThan(READ_UNIT);
    await update(taskId, { 'r1.same': accept() });
    await poll(url(), taskId, (task) => 'r2.same' in (task.inputRequests ?? {}));
    expect(await sizeOf(taskId)).toBeLessThan(READ_UNIT);
    await update(taskId, { 'r2.same': accept() });
    const done = await poll(url(), taskId, ended);
    expect(done.result.structuredContent).toEqual({ bytes: TEXT.length, last: accept() });
    expect(new Set(unitsOf(mark))).toEqual(new Set([1]));
    expect(await stored(taskId)).not.toHaveProperty('inputRef');
  });

  test('costs no call of S3 whose client cannot be asked, and keeps nothing', async () => {
    const mark = cloud().calls.mark();
    const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
    const params = { name: 'ask_twice', arguments: { text: TEXT } };
    const { taskId } = (await modernRequest(url(), 'tools/call', params, { capabilities })).body.result;
    const done = await poll(url(), taskId, ended);
    expect(done).toMatchObject({ status: 'failed', error: { data: { reason: 'InputNotSupported' } } });
    expect(s3Since(mark)).toEqual([]);
    expect(new Set(unitsOf(mark))).toEqual(new Set([1]));
  });
});

test('a task that asks first with large arguments is small from its first write', async () => {
  const client = await legacySession(url());
  const mark = cloud().calls.mark();
  const params = { name: 'ask_first', arguments: { text: TEXT }, task: {} };
  const { taskId } = (await client.request('tools/call', params)).body.result.task;
  expect([s3Since(mark), await sizeOf(taskId)]).toEqual([['PutObject'], expect.any(Number)]);
  expect(await sizeOf(taskId)).toBeLessThan(READ_UNIT);
  expect((await getTask(taskId)).result.status).toBe('input_required');
  await update(taskId, { 'r1.who': { action: 'accept', content: { name: 'Ann' } } });
  const done = await poll(url(), taskId, ended);
  expect(done.result.structuredContent).toMatchObject({ who: { content: { name: 'Ann' } }, bytes: TEXT.length });
});

describe('a task with large answers', () => {
  const note = 'é'.repeat(15_000);

  test('costs one read unit per read from the first answer on, and the tool gets them whole', async () => {
    const taskId = await start('ask_two', {});
    await poll(url(), taskId, asks);
    const mark = cloud().calls.mark();
    await update(taskId, { 'r1.first': accept({ note }) });
    const half = await poll(url(), taskId, asks);
    expect(Object.keys(half.inputRequests)).toEqual(['r1.second']);
    expect(await sizeOf(taskId)).toBeLessThan(READ_UNIT);
    expect((await update(taskId, { 'r1.first': accept({ note: 'other' }) })).body.result.resultType).toBe('complete');
    await update(taskId, { 'r1.second': accept({ note: `${note}!` }) });
    const done = await poll(url(), taskId, ended);
    expect(done.result.structuredContent).toEqual({ first: accept({ note }), second: accept({ note: `${note}!` }) });
    // The result itself is as large as the answers.
    expect(
      unitsOf(mark)
        .slice(0, -1)
        .every((units) => units === 1),
    ).toBe(true);
  });
});

test('questions go to S3 if they and what came before them are large only together', async () => {
  const more = 'm'.repeat(700);
  const taskId = await start('ask_twice', { more });
  await poll(url(), taskId, asks);
  await update(taskId, { 'r1.same': accept({ note: 'n'.repeat(100) }) });
  const again = await poll(url(), taskId, (task) => 'r2.same' in (task.inputRequests ?? {}));
  expect(again.inputRequests['r2.same'].params.message).toBe(`Twice? ${more}`);
  expect(await stored(taskId)).toMatchObject({ inputRef: expect.any(String), inputResponses: {} });
  await update(taskId, { 'r2.same': accept() });
  expect((await poll(url(), taskId, ended)).result.structuredContent).toEqual({ last: accept() });
});

describe('large questions', () => {
  test('cost one read unit per read, from the first one on', async () => {
    const taskId = await start('ask_twice', { word: WORD });
    await expect.poll(async () => (await stored(taskId)).status).toBe('input_required');
    expect(await sizeOf(taskId)).toBeLessThan(READ_UNIT);
    const mark = cloud().calls.mark();
    const first = (await getTask(taskId)).result;
    expect(first.inputRequests['r1.same'].params.message).toBe(`Once? ${WORD}`);
    expect((await getTask(taskId)).result).toEqual(first);
    expect(unitsOf(mark)).toEqual([1, 1]);
    await update(taskId, { 'r1.same': accept() });
    await poll(url(), taskId, (task) => 'r2.same' in (task.inputRequests ?? {}));
    await update(taskId, { 'r2.same': accept({ last: true }) });
    expect((await poll(url(), taskId, ended)).result.structuredContent).toEqual({ last: accept({ last: true }) });
  });

  test('a stream that listens reads one unit, and half a unit from its second read on', async () => {
    const taskId = await start('ask_twice', { word: WORD });
    await poll(url(), taskId, asks);
    const mark = cloud().calls.mark();
    const { body, headers } = modernMessage('subscriptions/listen', { notifications: { taskIds: [taskId] } });
    const notified: Answer['body'][] = [];
    for await (const { data } of (await openStream(url(), body, headers)).events) {
      const { method, params } = data as Answer['body'];
      if (method !== 'notifications/tasks') continue;
      notified.push(params);
      if (params.status === 'input_required') await modernRequest(url(), 'tasks/cancel', { taskId });
    }
    expect(notified.map(({ status }) => status)).toEqual(['input_required', 'cancelled']);
    expect(notified[0]?.inputRequests['r1.same'].params.message).toBe(`Once? ${WORD}`);
    expect(new Set(unitsOf(mark))).toEqual(new Set([1, 0.5]));
  });

  test('2025-11-25: asked on a stream, answered by POST; a list of them costs its share', async () => {
    const client = await legacySession(url());
    const ids = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const params = { name: 'ask_twice', arguments: { word: WORD }, task: {} };
        return (await client.request('tools/call', params)).body.result.task.taskId as string;
      }),
    );
    for (const taskId of ids) await poll(url(), taskId, asks);
    const mark = cloud().calls.mark();
    const { tasks } = (await client.request('tasks/list')).body.result;
    expect(tasks.map(({ status }: Answer['body']) => status)).toEqual(Array(3).fill('input_required'));
    expect(unitsOf(mark).reduce((sum, units) => sum + units, 0)).toBeLessThanOrEqual(3);
    const [taskId] = ids;
    const message = { jsonrpc: '2.0', id: 'r', method: 'tasks/result', params: { taskId } };
    let answer: Answer['body'];
    const asked: string[] = [];
    for await (const { data } of (await openStream(url(), message, client.headers)).events) {
      const said = data as Answer['body'];
      if (said.method === 'elicitation/create') {
        asked.push(said.params.message);
        await fetch(url(), {
          method: 'POST',
          headers: { ...client.headers, 'content-type': 'application/json', accept: 'application/json' } as never,
          body: JSON.stringify({ jsonrpc: '2.0', id: said.id, result: accept() }),
        });
      } else if (said.id === 'r') answer = said;
    }
    expect(asked).toEqual([`Once? ${WORD}`, 'Twice?']);
    expect(answer.result.structuredContent).toEqual({ last: accept() });
  });
});

describe('S3 or the process fails', () => {
  afterEach(() => cloud().faults.clear());
  const failing = { service: 's3', do: { error: 'SlowDown', status: 503 }, times: 3 } as const;

  test('arguments cannot be stored: an error says so, the table stays empty, the next call works', async () => {
    cloud().faults.add({ ...failing, operation: 'PutObject' });
    const mark = cloud().calls.mark();
    expect((await call('ask_twice', { text: TEXT })).error).toMatchObject({ data: { reason: 'Unavailable' } });
    const operations = cloud()
      .calls.since(mark)
      .map(({ operation }) => operation);
    expect(operations).not.toContain('PutItem');
    expect(operations).not.toContain('StartExecution');
    const taskId = await start('ask_twice', { text: TEXT });
    expect(await poll(url(), taskId, asks)).toMatchObject({ status: 'input_required' });
  });

  test('the call dies between S3 and the table: an object that nothing refers to, and no task', async () => {
    cloud().faults.add({ service: 'dynamodb', operation: 'PutItem', do: { error: 'AccessDeniedException' }, times: 3 });
    const mark = cloud().calls.mark();
    expect((await call('ask_twice', { text: TEXT })).error).toMatchObject({ code: -32603 });
    expect(s3Since(mark)).toEqual(['PutObject']);
    expect(
      cloud()
        .calls.since(mark)
        .map(({ operation }) => operation),
    ).not.toContain('StartExecution');
  });

  test('answers cannot be stored: the question stays open, and the same answer is taken later', async () => {
    const taskId = await start('ask', {});
    await poll(url(), taskId, asks);
    cloud().faults.add({ ...failing, operation: 'PutObject' });
    const answer = { 'r1.confirm': accept({ note: 'n'.repeat(20 * KB) }) };
    expect((await update(taskId, answer)).body.error).toMatchObject({ data: { reason: 'Unavailable' } });
    expect((await getTask(taskId)).result.status).toBe('input_required');
    await update(taskId, answer);
    expect((await poll(url(), taskId, ended)).result.structuredContent.answer).toEqual(answer['r1.confirm']);
  });

  test('questions cannot be stored: the workflow tries again, and then the task asks', async () => {
    const busy = cloud().faults.add({
      ...failing,
      operation: 'PutObject',
      caller: 'ServerTaskEventsFunction',
      times: 4,
    });
    const taskId = await start('ask_twice', { word: WORD });
    await poll(url(), taskId, asks);
    expect(busy.hits).toBe(4);
    expect(await sizeOf(taskId)).toBeLessThan(READ_UNIT);
  });
});
