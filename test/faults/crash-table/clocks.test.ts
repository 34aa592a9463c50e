import { expect, test } from 'vitest';
import { ended, modernRequest, poll, runTask } from '../../support/clients.ts';
import { EVENT, useCrashCloud } from './cloud.ts';
import { MINUTE, SECONDS, settles } from './row.ts';

/** Rows 20 and 21 of the crash table: clocks disagree, or nobody repairs anything. */
const { cloud, url, now, start, get, stored, sweep, stopRun } = useCrashCloud();
const GRACE = 30_000;
const HOUR = 60 * MINUTE;
const ENDPOINT = 'ServerEndpoint';

test.for([20_000, -20_000, HOUR, -14 * MINUTE])(
  'row 20: the clock of the endpoint differs by %i ms: the task runs as ever',
  async (ms, { task }) => {
    cloud().clock.skew(ENDPOINT, ms);
    const since = now();
    expect(await runTask(url(), 'echo', { a: 1 })).toMatchObject({ status: 'completed' });
    settles(task, { row: 20, tookMs: now() - since, boundMs: SECONDS });
    cloud().clock.skew(ENDPOINT, 0);
  },
);

test('row 20: a clock that is ahead by less than the grace gives no task up before its deadline', async ({ task }) => {
  const taskId = await start('spin', { file: '/dev/null' });
  const { deadlineAt } = await stored(taskId);
  cloud().clock.skew(ENDPOINT, 20_000);
  cloud().clock.advance(deadlineAt - 1_000 - now());
  expect(await get(taskId)).toMatchObject({ status: 'working' });
  cloud().clock.advance(GRACE - 20_000 + 1_001);
  expect(await get(taskId)).toMatchObject({ status: 'failed' });
  settles(task, { row: 20, tookMs: now() - deadlineAt, boundMs: GRACE, sinceDeadline: true });
  cloud().clock.skew(ENDPOINT, 0);
  await sweep();
});

test('row 21: no reconciler at all: readers are told all the same; once it is back, it writes what they were told', async ({
  task,
}) => {
  const dead = [
    cloud().faults.add({ ...EVENT, do: 'drop', times: 100 }),
    cloud().faults.add({
      service: 'lambda',
      operation: 'Run',
      caller: 'ServerReconcilerFunction',
      do: 'killWorker',
      times: 100,
    }),
  ];
  const taskId = await start('spin', { file: '/dev/null' });
  const { deadlineAt } = await stored(taskId);
  await stopRun(taskId);
  for (let minutes = 0; minutes < 3; minutes++) {
    cloud().clock.advance(MINUTE);
    await sweep();
  }
  expect(await get(taskId)).toMatchObject({ status: 'working' });
  cloud().clock.advance(deadlineAt + GRACE + 1 - now());
  const told = await poll(url(), taskId, ended);
  settles(task, { row: 21, tookMs: now() - deadlineAt, boundMs: GRACE + SECONDS, sinceDeadline: true });
  expect(told).toMatchObject({ status: 'failed', error: { data: { reason: 'DeadlineExceeded' } } });
  expect(await stored(taskId)).toMatchObject({ status: 'working' });
  for (const fault of dead) fault.remove();
  await sweep();
  expect(await stored(taskId)).toMatchObject({ status: 'failed' });
  expect((await modernRequest(url(), 'tasks/get', { taskId })).body.result).toEqual(told);
});
