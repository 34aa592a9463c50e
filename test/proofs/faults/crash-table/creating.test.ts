import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { ended, modernRequest, poll } from '../../../support/clients.ts';
import { START, useCrashCloud } from './cloud.ts';
import { ITS_ANSWER, MINUTE, SECONDS, settles } from './row.ts';

/** Rows 1 to 6 of the crash table: a task is made, and something goes wrong. */
const { cloud, url, now, start, get, stored, runsOf, records, orphanOf, pass, sweepAfter } = useCrashCloud();
const PUT = { service: 'dynamodb', operation: 'PutItem' } as const;
/** How often the SDK tries a call that no quota refuses. */
const EACH_TIME = { times: 3 } as const;
const NOT_STARTED = { status: 'failed', statusMessage: 'The task could not be started' };
const call = (key?: string) => {
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  return modernRequest(url(), 'tools/call', { name: 'echo', arguments: { a: 1 } }, { headers });
};

test('row 1: the put fails: an error in the answer, nothing stored, the next call works', async ({ task }) => {
  const before = (await records()).length;
  const throttled = cloud().faults.add({ ...PUT, do: { error: 'ProvisionedThroughputExceededException' }, times: 10 });
  const since = now();
  expect((await call()).body.error).toMatchObject({ code: -32603 });
  throttled.remove();
  settles(task, { row: 1, tookMs: now() - since, boundMs: ITS_ANSWER });
  expect(await records()).toHaveLength(before);
  expect((await call()).body.result.taskId).toEqual(expect.any(String));
});

test('row 2: the start fails: the task fails, and the same answer says so', async ({ task }) => {
  cloud().faults.add({ ...START, do: { error: 'AccessDeniedException' }, ...EACH_TIME });
  const since = now();
  const before = new Set((await records()).map(({ taskId }) => taskId));
  expect((await call()).body.error).toMatchObject({ code: -32603, message: expect.stringContaining('try again') });
  settles(task, { row: 2, tookMs: now() - since, boundMs: ITS_ANSWER });
  const [made] = (await records()).filter(({ taskId }) => !before.has(taskId));
  expect(made).toMatchObject(NOT_STARTED);
  expect(runsOf(made?.taskId ?? '')).toEqual([]);
  // Its run may have begun: the sweep stops it, or finds none.
  await sweepAfter(MINUTE);
  expect(await stored(made?.taskId ?? '')).not.toHaveProperty('due');
});

test.for(['ThrottlingException', 'ExecutionLimitExceeded'])(
  'row 2: the start is refused with %s: 429 at once, and no reader finds a task',
  async (error, { task }) => {
    const struck = cloud().faults.add({ ...START, do: { error }, times: 10 });
    const since = now();
    const { taskId, status, ttl, createdAt } = await orphanOf('echo');
    settles(task, { row: 2, tookMs: now() - since, boundMs: ITS_ANSWER });
    expect(struck.hits).toBe(1);
    expect(status).toBe('failed');
    expect(createdAt + ttl).toBeLessThanOrEqual(now());
    expect(runsOf(taskId)).toEqual([]);
    expect((await modernRequest(url(), 'tasks/get', { taskId })).body.error.code).toBe(-32602);
  },
);

test('row 2: a keyed start is refused: a repeat of the call starts the task, and it runs once', async ({ task }) => {
  const key = randomUUID();
  cloud().faults.add({ ...START, do: { error: 'ThrottlingException' } });
  const since = now();
  expect((await call(key)).status).toBe(429);
  const { taskId } = (await call(key)).body.result;
  expect(await poll(url(), taskId, ended)).toMatchObject({ status: 'completed' });
  settles(task, { row: 2, tookMs: now() - since, boundMs: SECONDS });
  expect(runsOf(taskId)).toHaveLength(1);
});

test('row 3: the answer to the start is lost: started again by the same name, it runs once', async ({ task }) => {
  cloud().faults.add({ ...START, at: 'after', do: 'drop' });
  const since = now();
  const taskId = await start('event');
  expect(await poll(url(), taskId, ended)).toMatchObject({ status: 'completed' });
  settles(task, { row: 3, tookMs: now() - since, boundMs: SECONDS });
  expect(runsOf(taskId)).toHaveLength(1);
});

test('row 3: the answer to the start is lost, then no room is left: no automatic repeat', async ({ task }) => {
  let tries = 0;
  cloud().faults.add({ ...START, at: 'after', do: 'drop' });
  cloud().faults.add({ ...START, when: () => ++tries === 2, do: { error: 'ThrottlingException' } });
  const since = now();
  const before = new Set((await records()).map(({ taskId }) => taskId));
  const answer = await modernRequest(url(), 'tools/call', { name: 'spin', arguments: { file: '/dev/null' } });
  expect([answer.status, answer.body.error.code, answer.body.error.data]).toEqual([200, -32603, undefined]);
  expect(answer.headers.get('retry-after')).toBe(null);
  settles(task, { row: 3, tookMs: now() - since, boundMs: ITS_ANSWER });
  const [made] = (await records()).filter(({ taskId }) => !before.has(taskId));
  expect(made).toMatchObject(NOT_STARTED);
  await expect.poll(() => runsOf(made?.taskId ?? '')).toMatchObject([{ status: 'ABORTED' }]);
});

// This comes sooner than the table says: a task that was answered as failed can no longer change anything.
test('row 3: every answer to the start is lost: an error, and the run can change nothing', async ({ task }) => {
  cloud().faults.add({ ...START, at: 'after', do: 'drop', ...EACH_TIME });
  const since = now();
  const { taskId } = await orphanOf('spin', { file: '/dev/null' });
  expect(await get(taskId)).toMatchObject(NOT_STARTED);
  settles(task, { row: 3, tookMs: now() - since, boundMs: ITS_ANSWER });
  await expect.poll(() => runsOf(taskId)).toMatchObject([{ status: 'ABORTED' }]);
  expect(await stored(taskId)).toMatchObject(NOT_STARTED);
});

test('row 4: the worker dies before the start: the sweep fails the task, it is never started', async ({ task }) => {
  cloud().faults.add({ ...START, do: 'killWorker' });
  const since = now();
  const { taskId } = await orphanOf('echo');
  await pass(MINUTE, async () => (await stored(taskId)).status !== 'working');
  settles(task, { row: 4, tookMs: now() - since, boundMs: 2 * MINUTE });
  expect(await stored(taskId)).toMatchObject(NOT_STARTED);
  expect(runsOf(taskId)).toEqual([]);
});

test('row 4: the worker dies before the start; a repeat by the key runs it once', async ({ task }) => {
  const key = randomUUID();
  cloud().faults.add({ ...START, do: 'killWorker' });
  const since = now();
  expect((await call(key)).status).toBe(502);
  const { taskId } = (await call(key)).body.result;
  expect(await poll(url(), taskId, ended)).toMatchObject({ status: 'completed' });
  settles(task, { row: 4, tookMs: now() - since, boundMs: SECONDS });
  expect(runsOf(taskId)).toHaveLength(1);
});

// No write confirms a start (docs/architecture/tasks.md, "Repair"): until the sweep has looked, nothing says that it runs.
test('row 5: the worker dies after the start: it runs, and the sweep only sees that it does', async ({ task }) => {
  cloud().faults.add({ ...START, at: 'after', do: 'killWorker' });
  const since = now();
  const { taskId } = await orphanOf('spin', { file: '/dev/null' });
  await pass(MINUTE, async () => (await stored(taskId)).seenRound === 1);
  settles(task, { row: 5, tookMs: now() - since, boundMs: 2 * MINUTE });
  expect(await stored(taskId)).toMatchObject({ status: 'working', round: 1, seenRound: 1 });
  expect(runsOf(taskId)).toMatchObject([{ status: 'RUNNING' }]);
  await modernRequest(url(), 'tasks/cancel', { taskId });
});

test('row 6: the same call again: with a key it is one task, that runs once; without it is two', async ({ task }) => {
  const key = randomUUID();
  const ids = async (calls: readonly ReturnType<typeof call>[]) =>
    new Set((await Promise.all(calls)).map(({ body }) => body.result.taskId as string));
  const since = now();
  const [one, two] = [await ids([call(key), call(key), call(key)]), await ids([call(), call()])];
  settles(task, { row: 6, tookMs: now() - since, boundMs: ITS_ANSWER });
  expect([one.size, two.size]).toEqual([1, 2]);
  for (const taskId of [...one, ...two]) {
    expect(await poll(url(), taskId, ended)).toMatchObject({ status: 'completed' });
    expect(runsOf(taskId)).toHaveLength(1);
  }
});
