import { expect, test } from 'vitest';
import { useCrashCloud } from '../../proofs/faults/crash-table/cloud.ts';
import { ended, legacySession, modernRequest, poll } from '../../support/clients.ts';
import { useAssembly } from '../../support/cloud.ts';

const { cloud, url, start, stored, runsOf, sweep, sweepAfter } = useCrashCloud({
  assembly: useAssembly('test/cloud/waits/app.ts'),
});
const [MINUTE, DAY] = [60_000, 86_400_000];

const waits = async (rounds: readonly object[], more: object = {}, tool = 'waits') => {
  const taskId = await start(tool, { rounds, ...more });
  await expect.poll(async () => (await stored(taskId)).status).not.toBe('working');
  return taskId;
};
const rounds = (count: number) => ({
  result: { structuredContent: { rounds: Array.from({ length: count }, (_, i) => i + 1) } },
});

test('a task sleeps for 7 days, and nothing is read or written meanwhile', async () => {
  const mark = cloud().calls.mark();
  const taskId = await waits([{ night: { kind: 'time', in: 7 * DAY } }]);
  const until = new Date((await stored(taskId)).dueAt ?? 0).toISOString().replace(/\.\d+/, '');
  const { body } = await modernRequest(url(), 'tasks/get', { taskId });
  expect(body.result).toMatchObject({ status: 'working', statusMessage: `Sleeping until ${until}` });
  const began = cloud()
    .calls.since(mark)
    .filter(({ operation }) => operation === 'UpdateItem');
  expect(began).toHaveLength(1);
  const asleep = cloud().calls.mark();
  for (let day = 0; day < 6; day++) await sweepAfter(DAY);
  const named = JSON.stringify(
    cloud()
      .calls.since(asleep)
      .filter(({ operation }) => operation !== 'PutEvents')
      .map(({ input }) => input),
  );
  expect(named).not.toContain(taskId);
  await sweepAfter(DAY + MINUTE);
  expect(await poll(url(), taskId, ended)).toMatchObject({ status: 'completed', ...rounds(2) });
  const writes = cloud()
    .calls.since(asleep)
    .filter(({ operation, input }) => operation === 'UpdateItem' && JSON.stringify(input).includes(taskId));
  // The round begins, and ends.
  expect(writes).toHaveLength(2);
});

test('the older revision sees a task that sleeps as working, in the list, too (C-09)', async () => {
  const session = await legacySession(url());
  const { body } = await session.request('tools/call', {
    name: 'waits',
    arguments: { rounds: [{ a: { kind: 'time', in: DAY } }] },
    task: {},
  });
  const { taskId } = body.result.task;
  await expect.poll(async () => (await stored(taskId)).status).toBe('waiting');
  const listed = (await session.request('tasks/list')).body.result.tasks;
  expect(listed).toMatchObject([
    { taskId, status: 'working', statusMessage: expect.stringMatching(/^Sleeping until /) },
  ]);
});

test.each(['waits', 'waits_express'])(
  '%s: a tool that has more to do goes on at once, for as many rounds as it needs',
  async (tool) => {
    const more = { more: { kind: 'more' } };
    const taskId = await start(tool, { rounds: [more, more, more] });
    expect(await poll(url(), taskId, ended)).toMatchObject({ status: 'completed', ...rounds(4) });
    expect((await stored(taskId)).events.map(({ what }) => what)).toEqual([
      'created',
      ...Array(3).fill(['waits', 'resumed']).flat(),
      'completed',
    ]);
    if (tool === 'waits')
      expect(runsOf(taskId).map(({ name }) => name)).toEqual([1, 2, 3, 4].map((n) => `${taskId}-r${n}`));
  },
);

test('sweeps, polls and streams at once begin a round once', async () => {
  const taskId = await waits([{ night: { kind: 'time', in: DAY } }]);
  cloud().clock.advance(DAY + MINUTE);
  const get = () => modernRequest(url(), 'tasks/get', { taskId });
  await Promise.all([sweep(), get(), sweep(), get()]);
  expect(await poll(url(), taskId, ended)).toMatchObject({ status: 'completed', ...rounds(2) });
  expect(runsOf(taskId).map(({ name }) => name)).toEqual([`${taskId}-r1`, `${taskId}-r2`]);
});

test.each([-1e15, 1e-300, 0.5])('a time that has passed is over at once, however odd: %s', async (until) => {
  const taskId = await start('waits', { rounds: [{ a: { kind: 'time', until } }] });
  expect(await poll(url(), taskId, ended)).toMatchObject({ status: 'completed', ...rounds(2) });
});

test('a client that cancels wakes nothing, and a deadline ends a task that sleeps past it', async () => {
  const cancelled = await waits([{ night: { kind: 'time', in: DAY } }]);
  await modernRequest(url(), 'tasks/cancel', { taskId: cancelled });
  const late = await waits([{ night: { kind: 'time', in: 200 * DAY } }]);
  expect((await stored(late)).dueAt).toBe((await stored(late)).deadlineAt + 30_000);
  await sweepAfter(100 * DAY + MINUTE);
  expect(await stored(cancelled)).toMatchObject({ status: 'cancelled', round: 1 });
  expect(await stored(late)).toMatchObject({ status: 'failed', failure: 'NotFinished' });
});

test('an answer begins the next round, also before a sleep beside its question is over', async () => {
  const taskId = await waits([{ night: { kind: 'time', in: DAY } }], { asks: 1 });
  expect(await poll(url(), taskId, ({ status }) => status === 'input_required')).toHaveProperty('inputRequests');
  await modernRequest(url(), 'tasks/update', {
    taskId,
    inputResponses: { 'r1.sure': { action: 'accept', content: {} } },
  });
  const { result } = await poll(url(), taskId, ended);
  expect(result.structuredContent).toMatchObject({ rounds: [1, 2], answers: { sure: { action: 'accept' } } });
});

test('large arguments lie in S3 while the task sleeps, also for a client that cannot be asked', async () => {
  const args = { text: 'x'.repeat(50_000), rounds: [{ night: { kind: 'time', in: DAY } }] };
  const { body } = await modernRequest(
    url(),
    'tools/call',
    { name: 'waits', arguments: args },
    { capabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
  );
  const { taskId } = body.result;
  await expect.poll(async () => (await stored(taskId)).status).toBe('waiting');
  expect(await stored(taskId)).not.toHaveProperty('arguments');
  await sweepAfter(DAY + MINUTE);
  const { result } = await poll(url(), taskId, ended);
  expect(result.structuredContent.bytes).toBeGreaterThan(50_000);
});

test.each([
  ['no kind', { a: {} }],
  ['another kind', { a: { kind: 'constructor' } }],
  ['no time', { a: { kind: 'time' } }],
  ['a time as text', { a: { kind: 'time', until: 'tomorrow' } }],
  ['a list of times', { a: { kind: 'time', until: [[1], null] } }],
  ['a time past the last date', { a: { kind: 'time', until: 1e300 } }],
  ['a list as a wait', { a: [{ until: 'x' }, null] }],
  ['100 KB', { a: { kind: 'more', text: 'x'.repeat(100_000) } }],
  ['a name of 65 characters', { ['x'.repeat(65)]: { kind: 'more' } }],
  ['21 waits', Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`w${i}`, { kind: 'more' }]))],
  ['none', {}],
])('waits that are not valid fail the task by name: %s', async (_what, wrong) => {
  const taskId = await start('waits', { rounds: [wrong] });
  expect(await poll(url(), taskId, ended)).toMatchObject({
    status: 'failed',
    error: { data: { reason: 'WaitInvalid' } },
  });
});
