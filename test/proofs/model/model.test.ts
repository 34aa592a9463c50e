import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BROKEN, BUGS, type Bug, scenariosFor } from './bugs.ts';
import { check, explain } from './check.ts';
import { scenarios } from './scenario.ts';
import { SEEDS } from './seeds.ts';

/** A small share of `npm run proof -- model`. */
const SEED = 2;
const RUNS = 240;
/** More than any bug needs from its seed below. */
const MOST = 2_000;

test('the protocol holds if anything dies, comes late, twice or not at all', async () => {
  const { explained, tasks } = await check({ runs: RUNS, seed: SEED });
  expect(explained).toBeUndefined();
  expect(tasks).toBeGreaterThan(RUNS);
});

test('a scenario is the same run each time, also when its expressions are known already', async () => {
  for (const scenario of fc.sample(scenarios, { numRuns: 20, seed: SEED })) {
    const { lines } = await explain(scenario);
    expect((await explain(scenario)).lines).toEqual(lines);
  }
});

describe('the model notices that', () => {
  test.each(Object.keys(BUGS) as Bug[])('%s, and nothing where that is mended', async (name) => {
    const { violation, scenario } = await check({
      ...{ runs: MOST, seed: SEEDS[name], parts: BUGS[name] },
      ...{ scenarios: scenariosFor(name), shrink: false },
    });
    expect(violation).toMatch(BROKEN[name]);
    const sound = scenario && (await explain(scenario));
    expect(sound?.lines.length).toBeGreaterThan(0);
    expect(sound?.violation).toBeUndefined();
  });
});

test('what is printed of a violation shows it again', async () => {
  const parts = BUGS['a slot is taken whether there is one or not'];
  const { explained = '', violation } = await check({ runs: MOST, seed: 1, parts, shrink: false });
  const [, seed, path] = explained.match(/npm run proof -- model --seed (\d+) --path (\S+)/) ?? [];
  expect(await check({ runs: 1, seed: Number(seed), path, parts, shrink: false })).toMatchObject({
    violation,
    explained,
  });
});
