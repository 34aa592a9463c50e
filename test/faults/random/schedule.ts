import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isTerminal } from '../../../functions/tasks/transitions.ts';
import { createRandom } from '../../../local/step-functions/random.ts';
import type { World } from '../world.ts';
import { type Look, legacyClient, modernClient } from './client.ts';
import { judge, type Violation } from './judge.ts';
import { type Life, live, liveOn, look, newLife } from './life.ts';
import { type Disturbance, type Plan, planOf } from './plan.ts';
import { raise } from './storm.ts';
import { writesIn } from './writes.ts';

/** What came of one schedule. */
export interface Outcome {
  readonly plan: Plan;
  readonly violations: readonly Violation[];
  /** What struck, in order, in words. */
  readonly strikes: readonly string[];
  /** Tasks that were made, by how they ended. */
  readonly ends: Readonly<Record<string, number>>;
  readonly ms: number;
}

const MINUTE = 60_000;
const GRACE = 30_000;

/**
 * One schedule: its clients work while its faults strike; then the faults end, and within the bounds of the crash table
 * everything must have come to its end: the first minute's sweep, and for what is left the deadline and one more.
 */
export async function runSchedule(seed: number, world: World): Promise<Outcome> {
  const begun = performance.now();
  const plan = planOf(seed);
  const { cloud } = world;
  const folder = mkdtempSync(join(tmpdir(), 'mcp-faults-'));
  const legacy = await legacyClient(world.url);
  const modern = modernClient(world.url);
  const lives = plan.tasks.map((task) => newLife(task, task.era === 'modern' ? modern : legacy));
  const since = cloud.clock.now();
  const mark = cloud.calls.mark();
  const storm = raise(plan, cloud.faults);
  try {
    await Promise.all([...lives.map((life) => live(life, folder)), disturb(plan, world)]);
    storm.calm();
    await settle(lives, since, folder, world);
    const last = await lastLooks(lives);
    const records = new Map((await world.records(since)).map((record) => [record.taskId, record]));
    const [writes, { runs, strikes }] = [writesIn(cloud.calls.since(mark)), storm];
    const calm = strikes.length + plan.disturbances.length === 0;
    const violations = judge({ lives, records, writes, runs, last, folder, calm });
    const ends = countBy([...records.values()], ({ status }) => status);
    return { plan, violations, strikes, ends, ms: performance.now() - begun };
  } finally {
    storm.calm();
    storm.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function disturb({ seed, disturbances }: Plan, world: World): Promise<void> {
  const random = createRandom(`disturb ${seed}`);
  const act: Record<Disturbance['what'], (ms: number) => unknown> = {
    advance: (ms) => world.advance(ms),
    sweep: () => world.sweep(),
    'sweep twice': () => Promise.all([world.sweep(), world.sweep()]),
    stop: () => world.stopOne(random.number()),
  };
  await Promise.all(
    disturbances.map(async ({ afterMs, what, ms }) => {
      await sleep(afterMs);
      await act[what](ms);
    }),
  );
}

async function settle(lives: readonly Life[], since: number, folder: string, world: World): Promise<void> {
  const { clock } = world.cloud;
  const goOn = () => Promise.all(lives.map((life) => liveOn(life, folder)));
  await goOn();
  await world.quiet();
  clock.advance(MINUTE + 1_000);
  await world.sweep();
  await goOn();
  await world.quiet();
  const open = (await world.records(since)).filter(({ status }) => !isTerminal(status));
  if (open.length === 0) return;
  const deadline = Math.max(...open.map(({ deadlineAt }) => deadlineAt));
  clock.advance(Math.max(0, deadline + GRACE + 1 - clock.now()));
  // Before anything is repaired, readers are told the very same.
  await lastLooks(lives);
  clock.advance(MINUTE);
  await world.sweep();
  await world.quiet();
}

async function lastLooks(lives: readonly Life[]): Promise<Map<string, Look | undefined>> {
  const looks = lives.flatMap((life) =>
    [...life.taskIds].map(async (taskId) => [taskId, await look(life, taskId)] as const),
  );
  return new Map(await Promise.all(looks));
}

function countBy<T>(items: readonly T[], keyOf: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[keyOf(item)] = (counts[keyOf(item)] ?? 0) + 1;
  return counts;
}
