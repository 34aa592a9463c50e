import { beforeEach, expect, test, vi } from 'vitest';
import { campaign, explain } from './campaign.ts';
import { testSeed } from './generate/random.ts';
import { calls, inProcess } from './in-process.ts';

const plan = {
  seed: testSeed,
  requests: Number(process.env.FUZZ_REQUESTS ?? 3_000),
  ...{ calls, secrets: [], bound: () => 5_000 },
};

// The log of a tool's mistakes is not wanted here.
beforeEach(() => {
  vi.spyOn(console, 'error').mockReturnValue();
});

test(`${plan.requests} fuzzed requests, seed ${plan.seed}: right answers only (A-02, A-05, A-13, A-15, A-17)`, async () => {
  const { send, did, records } = inProcess();
  const report = await campaign({ send, deeds: () => did.filter(isDeed).length }, plan);
  expect(report.failures.length, explain(report, plan)).toBe(0);
  const stored = new Set(records.ids());
  expect([...report.named].filter((taskId) => !stored.has(taskId))).toEqual([]);
  expect(report.answers.get('HTTP 200')).toBeGreaterThan(plan.requests / 20);
});

const isDeed = (deed: string): boolean => ['create', 'apply', 'start', 'invoke'].includes(deed);
