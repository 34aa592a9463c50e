import { startCloud } from '../../../local/cloud.ts';
import { worldOf } from '../world.ts';
import { type Outcome, runSchedule } from './schedule.ts';

/** A cloud keeps all that ever ran in it: a new one now and then. */
const PER_CLOUD = 50;
/** So many times faster are the waits of workflows, of retries and of events. */
const TIME_SCALE = 20;

/** Runs schedules one after the other; each would do the same in a cloud of its own. */
export async function* runSchedules(assembly: string, seeds: Iterable<number>): AsyncGenerator<Outcome> {
  let left = [...seeds];
  while (left.length > 0) {
    const cloud = await startCloud({
      ...{ assembly, movableClock: true, timeScale: TIME_SCALE, recordCalls: true, schedules: false },
      maxWorkersPerFunction: 5,
    });
    try {
      const world = worldOf(cloud);
      for (const seed of left.slice(0, PER_CLOUD)) yield await runSchedule(seed, world);
    } finally {
      await cloud.stop();
    }
    left = left.slice(PER_CLOUD);
  }
}

/** What went wrong in a schedule, and all that is needed to see it again. */
export function explain({ plan, violations, strikes }: Outcome): string {
  const { seed, disturbances } = plan;
  return [
    `seed ${seed}: npm run faults -- --seed ${seed}`,
    ...violations.map(({ kind, what }) => `  ${kind}: ${what}`),
    ...disturbances.map((disturbance) => `  disturbed: ${JSON.stringify(disturbance)}`),
    ...strikes.map((strike) => `  struck: ${strike}`),
  ].join('\n');
}
