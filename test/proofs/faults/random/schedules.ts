import { startCloud } from '../../../../local/cloud.ts';
import { worldOf } from '../world.ts';
import { type Outcome, runSchedule, TIME_SCALE } from './schedule.ts';

/** A cloud keeps all that ever ran in it: a new one now and then. */
const PER_CLOUD = 50;

/**
 * Runs schedules one after the other. The fate of a task follows from the seed and from its own calls, so each would do
 * much the same in a cloud of its own; one that breaks off is the last of its cloud.
 */
export async function* runSchedules(
  assembly: string,
  seeds: Iterable<number>,
  perCloud = PER_CLOUD,
): AsyncGenerator<Outcome> {
  const left = [...seeds];
  while (left.length > 0) {
    const cloud = await startCloud({
      ...{ assembly, movableClock: true, timeScale: TIME_SCALE, recordCalls: true, schedules: false },
      maxWorkersPerFunction: 5,
      // As on AWS, a worker that is killed takes one request with it: the fate of a task follows from its own calls.
      sharedWorkers: false,
    });
    try {
      const world = worldOf(cloud);
      for (let run = 0, broken = false; run < perCloud && !broken; run++) {
        const seed = left.shift();
        if (seed === undefined) break;
        const outcome = await runSchedule(seed, world);
        broken = outcome.violations.some(({ kind }) => kind === 'broke off');
        yield outcome;
      }
    } finally {
      await cloud.stop();
    }
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
