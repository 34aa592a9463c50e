/**
 * `npm run proof -- deliveries [--schedules 2000] [--seed 1]`: random faults of receivers and senders of events, in
 * memory, with the real handler of the queue. Prints each seed that fails, and exits 1 then.
 *
 * `-- --bugs`: the same with each seeded bug, until it is found, by 1,200 schedules at most.
 */
import { parseArgs } from 'node:util';
import { type BugName, bugs } from './bugs.ts';
import { findBug, runSchedules } from './schedules.ts';

const { values } = parseArgs({
  options: { schedules: { type: 'string' }, seed: { type: 'string', default: '1' }, bugs: { type: 'boolean' } },
});
const seedsOf = (usual: number) =>
  Array.from({ length: Number(values.schedules ?? usual) }, (_, index) => Number(values.seed) + index);

async function runAll(): Promise<boolean> {
  const sums = {
    schedules: 0,
    events: 0,
    attempts: 0,
    repeated: 0,
    deaths: 0,
    failures: 0,
    messages: 0,
    messagesUnderFaults: 0,
  };
  const failed: number[] = [];
  for await (const { outcome, violations } of runSchedules(seedsOf(2_000))) {
    const { plan, receivers, deaths, failures } = outcome;
    const arrivals = receivers.flatMap((one) => one.arrivals);
    sums.schedules += 1;
    sums.events += outcome.events.length * receivers.length;
    const most = Math.max(...receivers.map((one) => one.most.messages));
    sums.messages = Math.max(sums.messages, deaths + failures === 0 ? most : 0);
    sums.messagesUnderFaults = Math.max(sums.messagesUnderFaults, most);
    sums.attempts += arrivals.length;
    sums.repeated += receivers.reduce((sum, one) => sum + repeatedIn(one.arrivals), 0);
    sums.deaths += deaths;
    sums.failures += failures;
    if (violations.length > 0) failed.push(plan.seed);
    for (const { kind, what } of violations) console.log(`seed ${plan.seed}: ${kind}: ${what}`);
    if (sums.schedules % 500 === 0) console.log(JSON.stringify(sums));
  }
  console.log(`${JSON.stringify(sums)}: ${failed.length === 0 ? 'none failed' : `FAILED: seeds ${failed.join(', ')}`}`);
  return failed.length === 0;
}

/** How many events a receiver took more than once. */
function repeatedIn(arrivals: readonly { readonly event: string; readonly taken: boolean }[]): number {
  const taken = arrivals.filter((one) => one.taken);
  return taken.length - new Set(taken.map(({ event }) => event)).size;
}

async function findAll(): Promise<boolean> {
  let all = true;
  for (const name of Object.keys(bugs) as BugName[]) {
    const { found, seed, schedules } = await findBug(name, seedsOf(1_200));
    all &&= found !== undefined;
    console.log(
      `${name}: ${found ? `found by seed ${seed}: ${found.kind}: ${found.what}` : `NOT FOUND in ${schedules}`}`,
    );
  }
  return all;
}

process.exitCode = (await (values.bugs ? findAll() : runAll())) ? 0 : 1;
