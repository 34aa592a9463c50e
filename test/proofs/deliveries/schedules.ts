import { type Bug, type BugName, bugs } from './bugs.ts';
import { type Violation, violationsOf } from './judge.ts';
import { planOf } from './plan.ts';
import { type Outcome, run } from './run.ts';

export interface Judged {
  readonly outcome: Outcome;
  readonly violations: readonly Violation[];
}

/** Runs and judges the schedules of these seeds. The functions say nothing meanwhile. */
export async function* runSchedules(seeds: Iterable<number>, bug?: Bug): AsyncGenerator<Judged> {
  for (const seed of seeds) {
    const outcome = await quietly(() => run(planOf(seed), bug));
    yield { outcome, violations: violationsOf(outcome) };
  }
}

/** The first schedule of these seeds that shows the bug, and how many were needed. */
export async function findBug(name: BugName, seeds: Iterable<number>) {
  const bug: Bug = bugs[name];
  let schedules = 0;
  for await (const { outcome, violations } of runSchedules(seeds, bug)) {
    schedules += 1;
    const found = violations.find(({ kind }) => kind === bug.kind);
    if (found !== undefined) return { found, seed: outcome.plan.seed, schedules };
  }
  return { found: undefined, seed: undefined, schedules };
}

async function quietly<T>(work: () => Promise<T>): Promise<T> {
  const { error, warn } = console;
  Object.assign(console, { error: () => {}, warn: () => {} });
  try {
    return await work();
  } finally {
    Object.assign(console, { error, warn });
  }
}
