import { afterEach, expect, test } from 'vitest';
import { ended, modernRequest, poll, runTask } from '../../../support/clients.ts';
import { EVENT, FINISH, INVOKE, useCrashCloud } from './cloud.ts';
import { MINUTE, SECONDS, settles } from './row.ts';

/** Rows 20 and 21 of the crash table: clocks disagree, or the reconciler does not run. */
const { cloud, url, now, start, get, stored, runsOf, sweep, sweepAfter, stopRun, quiet } = useCrashCloud();
const GRACE = 30_000;
const HOUR = 60 * MINUTE;
const ENDPOINT = 'ServerEndpoint';
const RECONCILER = 'ServerReconcilerFunction';
const TOOLS = 'Tools';
afterEach(() => {
  cloud().clock.resume();
  for (const name of [ENDPOINT, RECONCILER, TOOLS]) cloud().clock.skew(name, 0);
});
const moveTo = (instant: number) => cloud().clock.advance(instant - now());

test.for([20_000, -20_000, HOUR, -14 * MINUTE])(
  'row 20: the clock of the endpoint differs by %i ms: the task runs as usual',
  async (ms, { task }) => {
    cloud().clock.skew(ENDPOINT, ms);
    const since = now();
    expect(await runTask(url(), 'echo', { a: 1 })).toMatchObject({ status: 'completed' });
    settles(task, { row: 20, tookMs: now() - since, boundMs: SECONDS });
  },
);

test.for([HOUR, -HOUR])(
  'row 20: the clock of the tool differs by %i ms: it reports, remembers and ends as usual',
  async (ms, { task }) => {
    cloud().clock.skew(TOOLS, ms);
    const since = now();
    const taskId = await start('steps', { steps: 1 });
    await poll(url(), taskId, ({ statusMessage }) => statusMessage === 'step 1');
    expect(await poll(url(), taskId, ended)).toMatchObject({ status: 'completed' });
    const charged = await runTask(url(), 'charge_then_crash', { file: '/dev/null', crashes: 1 });
    expect(charged).toMatchObject({ status: 'completed', result: { structuredContent: { attempt: 1 } } });
    settles(task, { row: 20, tookMs: now() - since, boundMs: SECONDS });
  },
);

test.for([19_000, -19_000])(
  'row 20: the reconciler is %i ms off: no running task fails, ended ones are as read',
  async (ms, { task }) => {
    cloud().clock.skew(RECONCILER, ms);
    const taskId = await start('spin', { file: '/dev/null' });
    const { deadlineAt } = await stored(taskId);
    cloud().clock.hold();
    for (const at of [now() + MINUTE - 19_000, now() + 2 * MINUTE, deadlineAt, deadlineAt + 10_000]) {
      moveTo(at);
      await sweep();
      expect(await get(taskId)).toMatchObject({ status: 'working' });
    }
    moveTo(deadlineAt + GRACE + 1);
    const shown = await get(taskId);
    expect(shown).toMatchObject({ status: 'failed', error: { data: { reason: 'DeadlineExceeded' } } });
    await sweep();
    if (ms < 0) {
      expect(await stored(taskId)).toMatchObject({ status: 'working' });
      await sweepAfter(MINUTE);
    }
    settles(task, { row: 20, tookMs: now() - deadlineAt, boundMs: GRACE + MINUTE + 1, sinceDeadline: true });
    expect(await stored(taskId)).toMatchObject({ status: 'failed' });
    expect(await get(taskId)).toEqual(shown);
    expect(runsOf(taskId)).toMatchObject([{ status: 'ABORTED' }]);
  },
);

/**
 * A workflow writes no outcome later than 10 s after the deadline; readers see that the task failed after 30 s.
 * The 20 s between them are for the time of a write and for the difference of clocks.
 */
test.for([
  { endsAt: 9_000, writeTakes: 0, endpoint: 19_000, reconciler: 19_000, status: 'completed' },
  { endsAt: 9_000, writeTakes: 10_000, endpoint: 9_000, reconciler: -19_000, status: 'completed' },
  { endsAt: 9_000, writeTakes: 19_000, endpoint: 0, reconciler: 0, status: 'completed' },
  { endsAt: 9_000, writeTakes: 19_000, endpoint: -19_000, reconciler: 19_000, status: 'failed' },
  { endsAt: 11_000, writeTakes: 0, endpoint: 18_000, reconciler: -19_000, status: 'failed' },
  { endsAt: 11_000, writeTakes: 0, endpoint: -19_000, reconciler: 19_000, status: 'failed' },
])(
  'row 20: outcome +$endsAt ms, write $writeTakes ms, clocks $endpoint/$reconciler: $status',
  async ({ endsAt, writeTakes, endpoint, reconciler, status }, { task }) => {
    cloud().clock.skew(ENDPOINT, endpoint);
    cloud().clock.skew(RECONCILER, reconciler);
    const statuses: string[] = [];
    const poll = async () => void statuses.push((await get(taskId)).status);
    const tool = Promise.withResolvers<void>();
    const called = cloud().faults.add({ ...INVOKE, do: { run: () => tool.promise } });
    const taskId = await start('echo');
    const { deadlineAt } = await stored(taskId);
    await called.struck;
    cloud().clock.hold();
    const write = cloud().faults.add({
      ...FINISH,
      do: {
        async run() {
          await poll();
          cloud().clock.advance(writeTakes);
          await poll();
          await sweep();
          await poll();
        },
      },
    });
    moveTo(deadlineAt + endsAt);
    tool.resolve();
    await quiet();
    expect(write.hits).toBe(1);
    for (const at of [0, 10_000, 20_000, GRACE, GRACE + MINUTE]) {
      if (deadlineAt + at > now()) moveTo(deadlineAt + at);
      await poll();
      await sweep();
      await poll();
    }
    settles(task, { row: 20, tookMs: now() - deadlineAt, boundMs: GRACE + MINUTE + 1, sinceDeadline: true });
    expect(await stored(taskId)).toMatchObject({ status });
    expect(
      statuses.filter((one) => one !== 'working').every((one) => one === status),
      statuses.join(' '),
    ).toBe(true);
    expect(statuses.at(-1)).toBe(status);
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
  await sweep();
});

test('row 21: no reconciler: readers see the failure; once back, it writes the same', async ({ task }) => {
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
    await sweepAfter(MINUTE);
  }
  expect(await get(taskId)).toMatchObject({ status: 'working' });
  cloud().clock.advance(deadlineAt + GRACE + 1 - now());
  const shown = await poll(url(), taskId, ended);
  settles(task, { row: 21, tookMs: now() - deadlineAt, boundMs: GRACE + SECONDS, sinceDeadline: true });
  expect(shown).toMatchObject({ status: 'failed', error: { data: { reason: 'DeadlineExceeded' } } });
  expect(await stored(taskId)).toMatchObject({ status: 'working' });
  for (const fault of dead) fault.remove();
  await sweep();
  expect(await stored(taskId)).toMatchObject({ status: 'failed' });
  expect((await modernRequest(url(), 'tasks/get', { taskId })).body.result).toEqual(shown);
});
