/**
 * `npm run faults`: 2,000 random fault schedules of 13 tasks each, by the seeds from 1 on. Prints each seed that fails,
 * with what struck, and exits 1 then. A seed is the same calls of the same clients, and for each task the same faults of
 * its own calls, as many as it makes; how the threads happen to run is not in it, nor which task an outage hits, so what
 * is a matter of milliseconds may take a few tries to come again.
 *
 * `-- --seed 7`: that one; `-- --seed 500 --schedules 100`: so many from there on; `-- --seed 7 --repeat 10`: that one
 * ten times, each in a cloud of its own, and how often it failed.
 *
 * `-- --bugs`: the same on servers with a bug, until what it must lead to is found, by 30 schedules at most.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { synthApp } from '../../../../local/template/synth.ts';
import { type BugName, bugs, plant } from './bugs.ts';
import type { Outcome } from './schedule.ts';
import { explain, runSchedules } from './schedules.ts';

const { values } = parseArgs({
  options: {
    ...{ schedules: { type: 'string' }, seed: { type: 'string' }, repeat: { type: 'string' } },
    bugs: { type: 'boolean' },
  },
});
const usual = values.bugs ? 30 : values.seed === undefined ? 2000 : 1;
const first = Number(values.seed ?? 1);
const repeats = values.repeat === undefined ? undefined : Number(values.repeat);
const seeds = Array.from({ length: repeats ?? Number(values.schedules ?? usual) }, (_, i) =>
  repeats === undefined ? first + i : first,
);

/** All outcomes so far, in one line. */
function tally() {
  const begun = performance.now();
  const ends: Record<string, number> = {};
  const failed: number[] = [];
  const sums = { schedules: 0, tasks: 0, strikes: 0 };
  return {
    failed,
    sums,
    add(outcome: Outcome) {
      sums.schedules += 1;
      sums.strikes += outcome.strikes.length;
      if (outcome.violations.length > 0) failed.push(outcome.plan.seed);
      for (const [status, tasks] of Object.entries(outcome.ends)) {
        sums.tasks += tasks;
        ends[status] = (ends[status] ?? 0) + tasks;
      }
    },
    line() {
      const { schedules, tasks, strikes } = sums;
      const ended = Object.entries(ends).map(([status, number]) => `${number} ${status}`);
      const rate = (tasks / (performance.now() - begun)) * 1_000;
      const bad = failed.length === 0 ? 'none failed' : `FAILED: seeds ${failed.join(', ')}`;
      return `${schedules} schedules, ${tasks} tasks (${ended.join(', ')}), ${strikes} faults: ${bad}; ${rate.toFixed(1)} tasks/s`;
    },
  };
}

async function runAll(assembly: string): Promise<boolean> {
  const all = tally();
  for await (const outcome of runSchedules(assembly, seeds, repeats === undefined ? undefined : 1)) {
    all.add(outcome);
    if (outcome.violations.length > 0) console.log(explain(outcome));
    if (all.sums.schedules % 50 === 0) console.log(all.line());
  }
  console.log(all.line());
  if (repeats !== undefined) console.log(`seed ${first} failed ${all.failed.length} of ${repeats} times`);
  return all.failed.length === 0;
}

async function findBug(name: BugName, assembly: string): Promise<boolean> {
  const { kind } = bugs[name];
  let schedules = 0;
  for await (const { plan, violations } of runSchedules(assembly, seeds)) {
    schedules += 1;
    const found = violations.find((violation) => violation.kind === kind);
    if (found === undefined) continue;
    console.log(`${name}: found by seed ${plan.seed}, after ${schedules} schedules\n  ${kind}: ${found.what}`);
    return true;
  }
  console.log(`${name} (${kind}): NOT found in ${schedules} schedules`);
  return false;
}

const folder = mkdtempSync(join(tmpdir(), 'mcp-faults-assembly-'));
try {
  process.env.MCP_TEST_BRIEF = '1';
  const assembly = join(folder, 'assembly');
  await synthApp('test/proofs/faults/random/app.ts', assembly);
  const fine: boolean[] = [];
  if (!values.bugs) fine.push(await runAll(assembly));
  else
    for (const name of Object.keys(bugs) as BugName[])
      fine.push(await findBug(name, plant(name, assembly, join(folder, name))));
  process.exitCode = fine.every(Boolean) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
