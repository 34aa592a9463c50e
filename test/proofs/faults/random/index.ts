/**
 * `npm run proof -- faults`: 2,000 random fault schedules of 13 tasks each, by the seeds from 1 on. Prints each seed that fails,
 * with what struck, and exits 1 then. A seed is the same calls of the same clients, and for each task the same faults of
 * its own calls, as many as it makes; how the threads happen to run is not in it, nor which task an outage hits, so what
 * is a matter of milliseconds may take a few tries to come again.
 *
 * `-- --seed 7`: that one; `-- --seed 500 --schedules 100`: so many from there on; `-- --seed 7 --repeat 10`: that one
 * ten times, each in its own cloud, and how often it failed.
 *
 * `-- --minutes 10`: as many as fit, one after the other in one cloud, with fewer deaths. Its workers must hold as much
 * memory in their last minute as in their second one, and its process no more of a task than its texts and events. With
 * `--leak endpoint|tool|reconciler`, a seeded bug, they do not, and it exits 1.
 *
 * `-- --engine express`: every tool that may be repeated runs on Express, and so many more may be. Executions run twice, and
 * get lost. With `--bugs` its own bugs.
 *
 * `-- --bugs`: the same on servers with a bug, until what it must lead to is found, by 30 schedules at most.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { synthApp } from '../../../../local/testing.ts';
import { plantLeak } from '../memory/leak.ts';
import { createMemory, type Memory } from '../memory/memory.ts';
import { type BugName, bugs, bugsOf, runWith } from './bugs.ts';
import type { Outcome } from './schedule.ts';
import { explain, runSchedules, type ScheduleOptions } from './schedules.ts';

const { values } = parseArgs({
  options: {
    ...{ schedules: { type: 'string' }, seed: { type: 'string' }, repeat: { type: 'string' } },
    ...{ minutes: { type: 'string' }, deaths: { type: 'string' }, leak: { type: 'string' } },
    ...{ bugs: { type: 'boolean' }, engine: { type: 'string', default: 'standard' } },
  },
});
if (!['standard', 'express'].includes(values.engine))
  throw new Error(`No engine '${values.engine}': standard, express`);
const usual = values.bugs ? 30 : values.seed === undefined ? 2000 : 1;
const first = Number(values.seed ?? 1);
const minutes = Number(values.minutes ?? 0);
const repeats = values.repeat === undefined ? undefined : Number(values.repeat);
const seeds = Array.from({ length: repeats ?? Number(values.schedules ?? usual) }, (_, i) =>
  repeats === undefined ? first + i : first,
);

const SAMPLE_MS = 20_000;
const MINUTE = 60_000;
/** Of so many deaths one happens with `--minutes`: the memory of a worker can be judged only if it lives. */
const LONG_DEATHS = 60;

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
  const options: ScheduleOptions = {
    ...(repeats !== undefined && { perCloud: 1 }),
    ...(values.deaths !== undefined && { deaths: Number(values.deaths) }),
  };
  for await (const outcome of runSchedules(assembly, seeds, options)) {
    all.add(outcome);
    if (outcome.violations.length > 0) console.log(explain(outcome));
    if (all.sums.schedules % 50 === 0) console.log(all.line());
  }
  console.log(all.line());
  if (repeats !== undefined) console.log(`seed ${first} failed ${all.failed.length} of ${repeats} times`);
  return all.failed.length === 0;
}

function* seedsFor(ms: number): Generator<number> {
  const begun = performance.now();
  for (let seed = first; performance.now() - begun < ms; seed++) yield seed;
}

/** In one cloud on disk, so that this process does not hold the tables' memory. */
async function runLong(assembly: string, dataDir: string): Promise<boolean> {
  const all = tally();
  let memory: Memory | undefined;
  const options: ScheduleOptions = {
    ...{ dataDir, perCloud: Number.POSITIVE_INFINITY, deaths: Number(values.deaths ?? LONG_DEATHS) },
    onCloud(cloud) {
      const watched = createMemory(cloud, () => all.sums.tasks);
      memory = watched;
      const sampling = setInterval(watched.sample, SAMPLE_MS);
      const reporting = setInterval(() => console.log(`${all.line()}\n${watched.line()}`), MINUTE);
      return () => {
        clearInterval(sampling);
        clearInterval(reporting);
        return watched.sample();
      };
    },
  };
  for await (const outcome of runSchedules(assembly, seedsFor(minutes * MINUTE), options)) {
    all.add(outcome);
    if (outcome.violations.length > 0) console.log(explain(outcome));
    // Only a new cloud could go on, and its workers are not these.
    if (outcome.violations.some(({ kind }) => kind === 'broke off')) break;
  }
  const wrong = memory?.wrong() ?? ['no schedule ran'];
  console.log([all.line(), memory?.report(), ...wrong].join('\n'));
  return all.failed.length === 0 && wrong.length === 0;
}

async function findBug(name: BugName, assembly: string, copy: string): Promise<boolean> {
  const { kind } = bugs[name];
  let schedules = 0;
  for await (const { plan, violations } of runWith(name, assembly, copy, seeds)) {
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
  process.env.MCP_TEST_ENGINE = values.engine;
  const assembly = join(folder, 'assembly');
  await synthApp('test/proofs/faults/random/app.ts', assembly);
  if (values.leak !== undefined) plantLeak(assembly, values.leak);
  const fine: boolean[] = [];
  if (minutes > 0) fine.push(await runLong(assembly, join(folder, 'data')));
  else if (!values.bugs) fine.push(await runAll(assembly));
  else for (const name of bugsOf(values.engine)) fine.push(await findBug(name, assembly, join(folder, name)));
  process.exitCode = fine.every(Boolean) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
