import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BROKEN, BUGS, type Bug, scenariosFor } from './bugs.ts';
import { check, explain } from './check.ts';
import { scenarios } from './scenario.ts';

/** A small share of `npm run proof -- model`. */
const SEED = 2;
const RUNS = 240;
/** More than any bug needs from its seed below. */
const MOST = 2_000;
/** Seeds whose first few runs show the bug: with others it may take a thousand. */
const SEEDS: Readonly<Record<Bug, number>> = {
  'a repeated StartExecution starts a second run': 2,
  'Finish is unconditional': 1,
  'Finish does not check the round': 117,
  'Finish does not check the clock': 40,
  'no sweep': 1,
  'the sweep takes every round for one that runs': 7,
  'the sweep starts a first round that was never started': 3,
  'a refused start counts as the only one sent': 24,
  'the sweep does not start an answered round again': 5,
  'the reconciler writes without a condition': 70,
  'an answer does not check what was answered since': 3,
  'a cancel stops the work before it fences the record': 4,
  'a cancel does not stop the work': 127,
  'the sweep does not stop the run of a task that has ended': 8,
  'a cancel overwrites what has ended': 70,
  'readers do not check the deadline': 5,
  'a repeated create overwrites the task': 1,
  'a stream reads its tasks only once': 4,
  'a slot is taken whether there is one or not': 1,
  'a poll takes a sleep for over': 1,
  'the sweep does not begin what has waited': 1,
  'a round begins without a check of what has come since': 1,
  'a round begins without its time-outs': 1,
  'a round that has more to do waits for its deadline': 1,
  'an early signal does not call the sweep': 1,
  'a person or system does not check who was first': 1,
  'an operator does not check who was first': 1,
  'a signal replaces a time-out': 1,
  'a round begins without what its tool has kept': 1,
  'the first wait that is over ends the others': 1,
  'a signal is acknowledged before it is stored': 1,
};

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
