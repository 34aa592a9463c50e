import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
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
  const start = performance.now();
  const at: number[] = [];
  const cancel = every(50, () => {
    at.push(performance.now() - start);
    // The time its own work takes does not push the next one back.
    const until = performance.now() + 40;
    while (performance.now() < until);
  });
  await expect.poll(() => at.length).toBeGreaterThanOrEqual(10);
  cancel();
  const tenth = at[9] ?? 0;
  // With that time added up it would be 860 at least.
  expect(tenth).toBeGreaterThan(498);
  expect(tenth).toBeLessThan(850);
  const { length } = at;
  await sleep(120);
  expect(at).toHaveLength(length);
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
