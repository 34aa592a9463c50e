import { expect, test } from 'vitest';
import { ended, modernRequest, poll } from '../../../support/clients.ts';
import { useAssembly } from '../../../support/cloud.ts';
import { BY_RECONCILER, FINISH, RESUME, useCrashCloud } from './cloud.ts';
import { MINUTE, SECONDS, settles } from './row.ts';

/** A task waits for the clock, or has more to do. */
const { cloud, url, start, now, stored, runsOf, sweep, sweepAfter, pass } = useCrashCloud({
  assembly: useAssembly('test/cloud/waits/app.ts'),
});
const DAY = 86_400_000;
const MORE = { more: { kind: 'more' } };
const NIGHT = { night: { kind: 'time', in: DAY } };

async function waiting(waits: object, tool = 'waits'): Promise<string> {
  const taskId = await start(tool, { rounds: [waits] });
  await expect.poll(async () => (await stored(taskId)).status).toBe('waiting');
  return taskId;
}
const isResumed = async (taskId: string) => (await stored(taskId)).round === 2;
const completes = async (taskId: string) =>
  expect(await poll(url(), taskId, ended)).toMatchObject({
    status: 'completed',
    result: { structuredContent: { rounds: [1, 2] } },
  });

test('row 24: a task has slept long enough: the sweep begins its next round, once', async ({ task }) => {
  const taskId = await waiting(NIGHT);
  const { dueAt = 0 } = await stored(taskId);
  await pass(dueAt - now(), () => isResumed(taskId));
  settles(task, { row: 24, tookMs: now() - dueAt, boundMs: 75_000 });
  await sweep();
  await completes(taskId);
  expect(runsOf(taskId).map(({ name }) => name)).toEqual([`${taskId}-r1`, `${taskId}-r2`]);
});

test('row 24: the request of the stream is lost: the sweep begins the round', async ({ task }) => {
  const lost = cloud().faults.add(RESUME);
  const taskId = await waiting(MORE);
  const since = now();
  await expect.poll(() => lost.hits).toBeGreaterThan(0);
  await pass(MINUTE, () => isResumed(taskId));
  settles(task, { row: 24, tookMs: now() - since, boundMs: 2 * MINUTE });
  await completes(taskId);
});

test('row 24: the same, and the client polls: that poll begins the round', async ({ task }) => {
  const lost = cloud().faults.add(RESUME);
  const taskId = await waiting(MORE);
  await expect.poll(() => lost.hits).toBeGreaterThan(0);
  cloud().clock.advance(15_000);
  const since = now();
  await modernRequest(url(), 'tasks/get', { taskId });
  await completes(taskId);
  settles(task, { row: 24, tookMs: now() - since, boundMs: SECONDS });
});

test.each([
  ['waits', 2 * MINUTE],
  ['waits_express', 7 * MINUTE],
])('row 24: %s: the reconciler dies between the round and its start: the sweep starts it', async (tool, boundMs) => {
  const taskId = await waiting(NIGHT, tool);
  cloud().faults.add({ ...BY_RECONCILER, do: 'killWorker' });
  await sweepAfter(DAY + MINUTE).catch(() => undefined);
  const since = now();
  expect(await stored(taskId)).toMatchObject({ status: 'working', round: 2 });
  cloud().faults.clear();
  while ((await stored(taskId)).status === 'working' && now() - since <= boundMs) {
    await sweepAfter(MINUTE);
  }
  await completes(taskId);
  expect(now() - since).toBeLessThanOrEqual(boundMs + MINUTE);
});

test('row 24: the answer of the write that ends a round is lost: it waits once', async ({ task }) => {
  const since = now();
  cloud().faults.add({ ...FINISH, at: 'after', do: 'drop' });
  const taskId = await waiting(NIGHT);
  settles(task, { row: 24, tookMs: now() - since, boundMs: SECONDS });
  await expect.poll(() => runsOf(taskId).at(-1)?.states.at(-1)).toBe('Superseded');
  await sweepAfter(DAY + MINUTE);
  await completes(taskId);
});
