import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { isTerminal } from '../../../functions/tasks/transitions/change.ts';
import { unsettled } from '../record-rules.ts';
import { runClient } from './actors/clients.ts';
import { scheduleSweeps } from './actors/reconciler.ts';
import { SKEW } from './checks/writes.ts';
import type { Scenario } from './scenario.ts';
import { createSimulation, type Parts, REAL, type Simulation, T0 } from './simulation/simulation.ts';

export interface Ended {
  /** What must not have happened; undefined: all is well. */
  readonly violation: string | undefined;
  readonly simulation: Simulation;
}

const SECOND = 1_000;
/** How long faults go on when all clients have left. */
const AFTERWARDS = 150 * SECOND;
/** Faults over, two sweeps put right all that does not have to wait for a deadline. */
const SETTLED = 125 * SECOND;
/** In ms: this long after its deadline the record of a task says that it is over: the grace, the next sweep, a clock that is behind. */
const BOUND = 90 * SECOND + SKEW;

/** Runs a scenario to its end and a while longer, without faults, and judges how every task has ended. */
export async function run(scenario: Scenario, parts: Parts = REAL, trace = (_line: string) => {}): Promise<Ended> {
  return withFixedRandom(async () => {
    const simulation = createSimulation(scenario, parts, trace);
    const { agenda, faults, truth } = simulation;
    const bad = () => truth.violation() !== undefined;
    scheduleSweeps(simulation, T0 + scenario.sweepAt * SECOND);
    let busy = scenario.clients.length;
    scenario.clients.forEach((client, i) => {
      const failed = (error: unknown) => truth.violated(`${(error as Error).stack}`);
      runClient(client, `client ${i + 1}`, simulation).then(() => busy--, failed);
    });
    let lastBusy = T0;
    for (const choice of scenario.choices) {
      await agenda.step(choice);
      if (busy > 0) lastBusy = agenda.now();
      if (bad() || agenda.now() > lastBusy + AFTERWARDS) break;
    }
    Object.assign(faults, { rate: 0, focus: '', outage: [0, 0] });
    truth.calmSince = agenda.now();
    simulation.trace('no more faults');
    if (!bad()) await settle(simulation);
    return { violation: truth.violation(), simulation };
  });
}

async function settle(simulation: Simulation): Promise<void> {
  const { agenda, truth } = simulation;
  const bad = () => truth.violation() !== undefined;
  await agenda.runTo(agenda.now() + SETTLED);
  if (bad()) return;
  for (const { record } of truth.tasks.values()) {
    const run = simulation.runOf(record);
    const hasRun = run !== undefined && run.status !== 'SUCCEEDED';
    if (run?.status === 'RUNNING' && (record.status === 'cancelled' || record.status === 'failed')) {
      truth.violated(`Work goes on for no task: ${run.name}`);
    }
    // From the deadline on nothing starts.
    if (record.status === 'working' && agenda.now() + SKEW < record.deadlineAt && !hasRun) {
      truth.violated(`Nothing goes on, long before the deadline: ${record.taskId} round ${record.round}`);
    }
  }
  const bound = (more = 0) =>
    Math.max(...[...truth.tasks.values()].map(({ record }) => record.deadlineAt + BOUND + more));
  // Clients go on meanwhile, and may make new tasks.
  while (agenda.now() <= bound() && !bad()) await agenda.runTo(bound() + SECOND);
  const settled = (is: (record: TaskRecord) => boolean) => {
    for (const { record } of truth.tasks.values()) {
      const open = is(record) ? unsettled(record) : undefined;
      if (open !== undefined) truth.violated(`Long after its deadline ${record.taskId} ${open}`);
    }
  };
  settled(({ status }) => !isTerminal(status));
  // A run that is not there to be stopped may still start: the sweep looks again a minute later.
  const again = () => bound(60 * SECOND);
  while (agenda.now() <= again() && !bad()) await agenda.runTo(again() + SECOND);
  settled(() => true);
  const due = [...simulation.table.items()].filter((item) => item.due !== undefined);
  if (due.length > 0) truth.violated(`The index keeps ${due.length} tasks`);
}

/** Ids are part of what is drawn: the same in each run of a scenario. */
async function withFixedRandom<T>(run: () => Promise<T>): Promise<T> {
  const real = { randomBytes: crypto.randomBytes, random: Math.random, error: console.error };
  let drawn = 0;
  crypto.randomBytes = ((size: number) =>
    crypto.createHash('sha512').update(String(drawn++)).digest().subarray(0, size)) as never;
  Math.random = () => 0.5;
  console.error = () => {};
  syncBuiltinESMExports();
  try {
    return await run();
  } finally {
    crypto.randomBytes = real.randomBytes;
    Math.random = real.random;
    console.error = real.error;
    syncBuiltinESMExports();
  }
}
