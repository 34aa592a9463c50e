import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { every, rateMs } from '../../template/schedule.ts';
import { createPauses, startTimeout } from '../../time/timeout.ts';

test.each([
  ['rate(1 minute)', 60_000],
  ['rate(5 minutes)', 300_000],
  ['rate(1 hour)', 3_600_000],
  ['rate(2 days)', 172_800_000],
])('%s is known', (expression, ms) => expect(rateMs(expression)).toBe(ms));

test.each(['rate(1 minutes)', 'rate(2 minute)', 'rate(0 minutes)', 'rate(1.5 hours)', 'cron(0 12 * * ? *)', ''])(
  '%s is not',
  (expression) => expect(rateMs(expression)).toBeUndefined(),
);

test('a schedule does not drift, and ends', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const at: number[] = [];
  let worked = 0;
  const byTimers = performance.now.bind(performance);
  const start = byTimers();
  vi.spyOn(performance, 'now').mockImplementation(() => byTimers() + worked);
  onTestFinished(() => void vi.restoreAllMocks());
  const cancel = every(50, () => {
    at.push(performance.now() - start);
    // The time its own work takes does not push back more than the next one.
    worked += 7;
  });
  vi.advanceTimersByTime(450);
  expect(at).toEqual([50, 107, 157, 207, 257, 307, 357, 407, 457, 507]);
  cancel();
  vi.advanceTimersByTime(500);
  expect(at).toHaveLength(10);
});

test('a pause longer than a timer can be does not end at once', async () => {
  let ended = false;
  const cancel = startTimeout(400 * 86_400_000, () => {
    ended = true;
  });
  await sleep(20);
  cancel();
  expect(ended).toBe(false);
});

test('ended pauses never resolve', async () => {
  const { pause, end } = createPauses();
  const seen: string[] = [];
  void pause(10).then(() => seen.push('before'));
  await expect.poll(() => seen).toEqual(['before']);
  void pause(10).then(() => seen.push('during'));
  end();
  void pause(10).then(() => seen.push('after'));
  await sleep(40);
  expect(seen).toEqual(['before']);
});
