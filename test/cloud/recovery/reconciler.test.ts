import { expect, test } from 'vitest';
import { ACCEPT, START, useCrashCloud } from '../../proofs/faults/crash-table/cloud.ts';
import { ended, modernRequest, poll } from '../../support/clients.ts';

/** Cases that the rows of the crash table leave out: test/proofs/faults/crash-table. */
const logged: string[] = [];
const { cloud, url, start, stored, runsOf, stopRun, sweep } = useCrashCloud({
  onLog: (source, line) => void logged.push(`${source} ${line}`),
});
const MINUTE = 60_000;

/** Answered, and its worker dies before it starts the next round (row 16). */
async function answeredAndLost(): Promise<string> {
  const taskId = await start('ask');
  await poll(url(), taskId, ({ status }) => status === 'input_required');
  cloud().faults.add({ ...START, do: 'killWorker' });
  const inputResponses = { 'r1.confirm': ACCEPT };
  await modernRequest(url(), 'tasks/update', { taskId, inputResponses }).catch(() => undefined);
  expect(await stored(taskId)).toMatchObject({ status: 'working', round: 2 });
  cloud().clock.advance(MINUTE);
  return taskId;
}

test('the event of a run that ended, delivered twice at once, fails the task once (row 13)', async () => {
  const taskId = await start('spin', { file: '/dev/null' });
  const doubled = cloud().faults.add({ service: 'events', operation: 'Deliver', do: 'double' });
  const mark = cloud().calls.mark();
  await stopRun(taskId);
  await poll(url(), taskId, ended);
  expect(doubled.hits).toBe(1);
  const reads = () =>
    cloud()
      .calls.since(mark)
      .filter(({ operation, caller }) => operation === 'GetItem' && caller.includes('Reconciler')).length;
  const failed = await stored(taskId);
  await expect.poll(reads).toBe(2);
  expect(await stored(taskId)).toEqual(failed);
});

test('an answered task is started once, by two sweeps and two polls at once (rows 14, 16)', async () => {
  const taskId = await answeredAndLost();
  const fire = () => cloud().schedules.fire('ServerReconcilerSweep');
  const get = () => modernRequest(url(), 'tasks/get', { taskId });
  await Promise.all([fire(), get(), fire(), get()]);
  expect(await poll(url(), taskId, ended)).toMatchObject({
    status: 'completed',
    result: { structuredContent: { answer: ACCEPT, round: 2 } },
  });
  expect(runsOf(taskId).map(({ name }) => name)).toEqual([`${taskId}-r1`, `${taskId}-r2`]);
});

test('reports each sweep (row 21), and nothing was given up in this file', async () => {
  logged.length = 0;
  await sweep();
  const metrics = logged.flatMap((line) => /^\S*Reconciler\S* (\{"_aws":.*\})$/.exec(line)?.[1] ?? []);
  expect(metrics.map((line) => JSON.parse(line))).toMatchObject([
    { Sweep: 1, Server: expect.stringMatching(/Server/) },
  ]);
  expect([...cloud().queues.values()].flat()).toEqual([]);
});
