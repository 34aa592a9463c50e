import { expect, test } from 'vitest';
import { type Bug, runSchedule } from './signal-schedules.ts';

const SCHEDULES = 1_000;

test.each(['standard', 'express'] as const)(
  '1,000 schedules on %s: no signal is lost or counts twice, no task is stuck or late',
  async (engine) => {
    for (let seed = 1; seed <= SCHEDULES; seed++) {
      expect([seed, ...(await runSchedule(seed, undefined, engine))]).toEqual([seed]);
    }
  },
  240_000,
);

test.each<Bug>(['no count', 'no early'])(
  'a planted bug is found: %s',
  async (bug) => {
    const found = new Set<string>();
    for (let seed = 1; seed <= 150; seed++) for (const one of await runSchedule(seed, bug)) found.add(one);
    expect(found.size).toBeGreaterThan(0);
  },
  120_000,
);
