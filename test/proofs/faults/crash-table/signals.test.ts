import { expect, test } from 'vitest';
import { signalUrl } from '../../../../functions/tasks/waits/signal-url.ts';
import { ended, modernRequest, poll } from '../../../support/clients.ts';
import { useAssembly } from '../../../support/cloud.ts';
import { BY_RECONCILER, FINISH, RESUME, useCrashCloud } from './cloud.ts';
import { ITS_ANSWER, MINUTE, SECONDS, settles } from './row.ts';

/** A task waits for a person with a link, or for another system. */
const { cloud, url, start, now, stored, runsOf, sweepAfter, pass } = useCrashCloud({
  assembly: useAssembly('test/cloud/waits/app.ts'),
});
const DAY = 86_400_000;
const LINK = { kind: 'link', in: 2 * DAY };
const OURS = 'ServerSignalsFunction';
const WRITE = { service: 'dynamodb', operation: 'UpdateItem', caller: OURS } as const;
const PUT = { service: 's3', operation: 'PutObject', caller: OURS } as const;

async function waiting(waits: object = { a: LINK }, more: object = {}, tool = 'waits'): Promise<string> {
  const taskId = await start(tool, { rounds: [waits], ...more });
  await expect.poll(async () => (await stored(taskId)).status).toBe('waiting');
  return taskId;
}
/** A task whose run has ended, and which waits for a link from `end` on. */
async function working() {
  const { promise, resolve: end } = Promise.withResolvers<void>();
  const held = cloud().faults.add({ ...FINISH, do: { run: () => promise } });
  const taskId = await start('waits', { rounds: [{ a: LINK }] });
  await held.struck;
  return { taskId, end };
}
async function urlOf(taskId: string, name = 'a'): Promise<string> {
  const { hookKey = '' } = await stored(taskId);
  return signalUrl({ url: `${cloud().url}/signals`, key: hookKey }, name);
}
/** The status of the answer. Each caller is another person, unless `by` is the same. */
async function send(to: string, by = 'Ann', content: object = {}): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ action: 'accept', content, by });
  return (await fetch(to, { method: 'POST', headers, body })).status;
}
/** The task ends, after two rounds and two runs, with the signal of this person. */
async function completesWith(taskId: string, signal: object): Promise<void> {
  const { status, result } = await poll(url(), taskId, ended);
  expect(status).toBe('completed');
  expect(result.structuredContent).toMatchObject({ rounds: [1, 2], signals: { a: signal } });
  expect(runsOf(taskId).map(({ name }) => name)).toEqual([`${taskId}-r1`, `${taskId}-r2`]);
  const signals = (await stored(taskId)).events.filter(({ what }) => what === 'signalled');
  expect(signals.length).toBe('timedOut' in signal ? 0 : 1);
}
const isResumed = async (taskId: string) => (await stored(taskId)).round === 2;

test('row 25: a signal comes while the round waits: the stream begins the next round', async ({ task }) => {
  const taskId = await waiting();
  const since = now();
  expect(await send(await urlOf(taskId))).toBe(200);
  await completesWith(taskId, { by: 'Ann' });
  settles(task, { row: 25, tookMs: now() - since, boundMs: SECONDS });
});

test('row 25: it comes early, while the run still works: it counts as soon as the round waits', async ({ task }) => {
  const { taskId, end } = await working();
  expect(await send(await urlOf(taskId))).toBe(200);
  expect(await stored(taskId)).toMatchObject({ status: 'working', round: 1, signalled: ['a'] });
  end();
  const since = now();
  await completesWith(taskId, { by: 'Ann' });
  settles(task, { row: 25, tookMs: now() - since, boundMs: SECONDS });
});

test.each([
  ['while it waits', async () => ({ taskId: await waiting(), end: () => {} })],
  ['early', () => working()],
])(
  'row 25: the request of the stream is lost, the signal came %s: the sweep begins the round',
  async (_when, begin) => {
    const lost = cloud().faults.add(RESUME);
    const { taskId, end } = await begin();
    expect(await send(await urlOf(taskId))).toBe(200);
    end();
    await expect.poll(() => lost.hits).toBeGreaterThan(0);
    const since = now();
    await pass(MINUTE, () => isResumed(taskId));
    expect(now() - since).toBeLessThanOrEqual(2 * MINUTE);
    await completesWith(taskId, { by: 'Ann' });
  },
);

test('row 25: one of two waits is over; the other gets its signal while the next round works', async ({ task }) => {
  const both = { a: LINK, b: { kind: 'webhook', in: 2 * DAY } };
  const taskId = await start('waits', { rounds: [both, { b: both.b }] });
  await expect.poll(async () => (await stored(taskId)).status).toBe('waiting');
  const { promise, resolve: end } = Promise.withResolvers<void>();
  const held = cloud().faults.add({ ...FINISH, do: { run: () => promise } });
  expect(await send(await urlOf(taskId))).toBe(200);
  await held.struck;
  const headers = { 'content-type': 'application/json' };
  const { status } = await fetch(await urlOf(taskId, 'b'), { method: 'POST', headers, body: '[7]' });
  expect([status, (await stored(taskId)).round]).toEqual([200, 2]);
  end();
  const since = now();
  const { result } = await poll(url(), taskId, ended);
  expect(result.structuredContent).toMatchObject({
    rounds: [1, 2, 3],
    signals: { a: { by: 'Ann' }, b: { body: [7] } },
  });
  settles(task, { row: 25, tookMs: now() - since, boundMs: SECONDS });
});

test('row 25: the same, and the client polls: that poll begins the round', async ({ task }) => {
  const lost = cloud().faults.add(RESUME);
  const taskId = await waiting();
  expect(await send(await urlOf(taskId))).toBe(200);
  await expect.poll(() => lost.hits).toBeGreaterThan(0);
  cloud().clock.advance(15_000);
  const since = now();
  await modernRequest(url(), 'tasks/get', { taskId });
  await completesWith(taskId, { by: 'Ann' });
  settles(task, { row: 25, tookMs: now() - since, boundMs: SECONDS });
});

test.each([
  ['before the write', { ...WRITE, do: 'killWorker' }],
  ['after the write', { ...WRITE, at: 'after', do: 'killWorker' }],
] as const)(
  'row 25: the function of signals dies %s: the sender tries again, and one signal counts',
  async (_when, fault) => {
    const taskId = await waiting();
    const to = await urlOf(taskId);
    const killed = cloud().faults.add(fault);
    expect(await send(to)).toBe(502);
    expect(killed.hits).toBe(1);
    expect([200, 410]).toContain(await send(to));
    await completesWith(taskId, { by: 'Ann' });
  },
);

test('row 25: it dies between the object in S3 and the write: a large signal counts once', async () => {
  const taskId = await waiting({ a: { ...LINK, properties: { text: { type: 'string' } } } });
  const [to, content] = [await urlOf(taskId), { text: 'x'.repeat(20_000) }];
  cloud().faults.add({ ...PUT, at: 'after', do: 'killWorker' });
  expect(await send(to, 'Ann', content)).toBe(502);
  expect(await stored(taskId)).toMatchObject({ status: 'waiting', inputResponses: {} });
  expect(await stored(taskId)).not.toHaveProperty('inputRef');
  expect(await send(to, 'Ann', content)).toBe(200);
  await completesWith(taskId, { content });
});

test('row 25: the answer of the write is lost: the signal counts once, and its sender gets 200', async ({ task }) => {
  const taskId = await waiting();
  const lost = cloud().faults.add({ ...WRITE, at: 'after', do: 'drop' });
  const since = now();
  expect(await send(await urlOf(taskId))).toBe(200);
  expect(lost.hits).toBe(1);
  settles(task, { row: 25, tookMs: now() - since, boundMs: ITS_ANSWER });
  await completesWith(taskId, { by: 'Ann' });
});

test.each([
  ['DynamoDB throttles the write', WRITE, 'ProvisionedThroughputExceededException'],
  ['DynamoDB throttles the read', { ...WRITE, operation: 'GetItem' }, 'ProvisionedThroughputExceededException'],
  ['S3 is slow', PUT, 'SlowDown'],
])('row 25: %s: 503, the wait stays open, and the same request later counts', async (_what, fault, error) => {
  const taskId = await waiting({ a: { ...LINK, properties: { text: { type: 'string' } } } });
  const [to, content] = [await urlOf(taskId), { text: 'x'.repeat(20_000) }];
  const throttled = cloud().faults.add({ ...fault, do: { error, status: fault === PUT ? 503 : 400 }, times: 10 });
  expect(await send(to, 'Ann', content)).toBe(503);
  throttled.remove();
  expect(await stored(taskId)).toMatchObject({ status: 'waiting', inputResponses: {} });
  expect(await send(to, 'Ann', content)).toBe(200);
  await completesWith(taskId, { content });
});

test('row 25: ten people answer at once: one counts, and the others get 410', async ({ task }) => {
  const taskId = await waiting();
  const to = await urlOf(taskId);
  const since = now();
  const people = Array.from({ length: 10 }, (_, i) => `p${i}`);
  const statuses = await Promise.all(people.map((by) => send(to, by)));
  expect(statuses.toSorted()).toEqual([200, ...Array(9).fill(410)]);
  settles(task, { row: 25, tookMs: now() - since, boundMs: ITS_ANSWER });
  await completesWith(taskId, { by: people[statuses.indexOf(200)] });
});

test('row 25: the same request ten times at once: each gets 200, until the round begins', async () => {
  cloud().faults.add(RESUME);
  const taskId = await waiting();
  const to = await urlOf(taskId);
  expect(await Promise.all(Array.from({ length: 10 }, () => send(to)))).toEqual(Array(10).fill(200));
  await pass(MINUTE, () => isResumed(taskId));
  await completesWith(taskId, { by: 'Ann' });
});

test('row 25: no signal comes: the sweep begins the next round, which gets that', async ({ task }) => {
  const taskId = await waiting();
  const { dueAt = 0 } = await stored(taskId);
  await pass(dueAt - now(), () => isResumed(taskId));
  settles(task, { row: 25, tookMs: now() - dueAt, boundMs: 75_000 });
  expect(await send(await urlOf(taskId))).toBe(410);
  await completesWith(taskId, { timedOut: true });
});

test.each([
  ['the round begins first', { timedOut: true }, 410],
  ['the signal comes first', { by: 'Ann' }, 200],
] as const)('row 25: the wait is over while a signal is on its way, and %s', async (_which, signal, status) => {
  const taskId = await waiting();
  const to = await urlOf(taskId);
  const { dueAt = 0 } = await stored(taskId);
  cloud().clock.advance(dueAt - now() - 1_000);
  // The signal has read the record, and its write waits until the sweep has written, or the other way round.
  const slow = Promise.withResolvers<void>();
  const by = status === 410 ? OURS : 'ServerReconcilerFunction';
  const held = cloud().faults.add({ ...WRITE, caller: by, do: { run: () => slow.promise } });
  const first = status === 410 ? send(to) : undefined;
  if (first !== undefined) await held.struck;
  const swept = sweepAfter(2_000);
  if (status === 200) {
    await held.struck;
    // The clock of the sender is behind.
    cloud().clock.advance(-2_000);
    expect(await send(to)).toBe(200);
    cloud().clock.advance(2_000);
    slow.resolve();
  }
  await swept;
  slow.resolve();
  if (first !== undefined) expect(await first).toBe(status);
  await pass(MINUTE, () => isResumed(taskId));
  await completesWith(taskId, signal);
});

test.each([
  ['waits', 2 * MINUTE],
  ['waits_express', 7 * MINUTE],
])('row 25: %s: the reconciler dies between the round and its start: the sweep starts it', async (tool, boundMs) => {
  const taskId = await waiting({ a: LINK }, {}, tool);
  cloud().faults.add({ ...BY_RECONCILER, do: 'killWorker' });
  expect(await send(await urlOf(taskId))).toBe(200);
  await expect.poll(() => isResumed(taskId)).toBe(true);
  const since = now();
  cloud().faults.clear();
  while ((await stored(taskId)).status === 'working' && now() - since <= boundMs) await sweepAfter(MINUTE);
  const { result } = await poll(url(), taskId, ended);
  expect(result.structuredContent).toMatchObject({ rounds: [1, 2], signals: { a: { by: 'Ann' } } });
  expect(now() - since).toBeLessThanOrEqual(boundMs + MINUTE);
});

test('row 25: a signal after the end of its task changes nothing, and its sender gets 410', async ({ task }) => {
  const taskId = await waiting();
  const to = await urlOf(taskId);
  await modernRequest(url(), 'tasks/cancel', { taskId });
  const [since, before] = [now(), await stored(taskId)];
  expect(await send(to)).toBe(410);
  settles(task, { row: 25, tookMs: now() - since, boundMs: ITS_ANSWER });
  expect(await stored(taskId)).toEqual(before);
});
