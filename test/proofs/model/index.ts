/**
 * `npm run proof -- model [--runs 20000] [--seed 1]`: so many random runs of the protocol. Prints the first that breaks a rule,
 * made as small as may be, and exits 1 then. `--path` as printed there runs just that one again.
 *
 * `npm run proof -- model --bugs [--runs 20000] [--seed N]`: the same with each of the seeded bugs, until it is found; from the seed
 * of the bug, if none is given.
 */
import { parseArgs } from 'node:util';
import { BROKEN, BUGS, type Bug, scenariosFor } from './bugs.ts';
import { check } from './check.ts';
import { SEEDS } from './seeds.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string' },
    seed: { type: 'string' },
    path: { type: 'string' },
    bugs: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed ?? 1);
const runs = Number(values.runs ?? 20_000);
/** So many at a time, to say in between how far it is. */
const PORTION = 1_000;

async function findBugs(): Promise<boolean> {
  let all = true;
  for (const name of Object.keys(BUGS) as Bug[]) {
    const { violation, runs: needed } = await check({
      ...{ runs, seed: values.seed === undefined ? SEEDS[name] : seed, parts: BUGS[name] },
      ...{ scenarios: scenariosFor(name), shrink: false },
    });
    all &&= violation !== undefined && BROKEN[name].test(violation);
    console.log(`${name}: ${violation === undefined ? 'NOT FOUND' : `found in run ${needed}: ${violation}`}`);
  }
  return all;
}

async function runAll(): Promise<boolean> {
  if (values.path !== undefined) return show(await check({ runs: 1, seed, path: values.path }));
  let tasks = 0;
  for (let done = 0; done < runs; done += PORTION) {
    const checked = await check({ runs: Math.min(PORTION, runs - done), seed: seed + done / PORTION });
    tasks += checked.tasks;
    if (!show(checked)) return false;
    console.log(`${Math.min(done + PORTION, runs)} runs from seed ${seed}, ${tasks} tasks: every rule holds`);
  }
  return true;
}

function show({ explained }: Awaited<ReturnType<typeof check>>): boolean {
  if (explained !== undefined) console.log(explained);
  return explained === undefined;
}

process.exitCode = (await (values.bugs ? findBugs() : runAll())) ? 0 : 1;
