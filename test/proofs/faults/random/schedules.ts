import { type Cloud, startCloud } from '../../../../local/cloud.ts';
import { measuredIn } from '../../told-rules.ts';
import { controlOf } from '../cloud-control.ts';
import { connectTo } from './operators/connect.ts';
import type { Bug } from './operators/operators.ts';
import { DEATHS, planOf } from './plan.ts';
import { type Outcome, runSchedule, TIME_SCALE } from './schedule.ts';

/** A cloud keeps all that ever ran in it: a new one now and then. */
const PER_CLOUD = 50;

export interface ScheduleOptions {
  /** How many schedules run in one cloud. @default 50 */
  readonly perCloud?: number;
  /** Of so many deaths of workers one happens. @default 3 */
  readonly deaths?: number;
  /** Where the only cloud keeps its state. @default in memory */
  readonly dataDir?: string;
  /** Called with each cloud before its first schedule. What it returns is called after the last one. */
  readonly onCloud?: (cloud: Cloud) => () => Promise<void>;
  /** In what operators use. */
  readonly bug?: Bug | undefined;
}

/**
 * Runs schedules one after the other. The fate of a task follows from the seed and from its own calls, so each would do
 * much the same in its own cloud; one that breaks off is the last of its cloud.
 */
export async function* runSchedules(
  assembly: string,
  seeds: Iterable<number>,
  { perCloud = PER_CLOUD, deaths = DEATHS, dataDir, onCloud, bug }: ScheduleOptions = {},
): AsyncGenerator<Outcome> {
  const left = seeds[Symbol.iterator]();
  let next = left.next();
  while (!next.done) {
    const metrics: NonNullable<ReturnType<typeof measuredIn>>[] = [];
    const cloud = await startCloud({
      onLog: (_source, line) => void metrics.push(...[measuredIn(line) ?? []].flat()),
      ...{ assembly, movableClock: true, timeScale: TIME_SCALE, recordCalls: true, schedules: false },
      maxWorkersPerFunction: 5,
      // As on AWS, a worker that is killed takes one request with it: the fate of a task follows from its own calls.
      sharedWorkers: false,
      ...(dataDir !== undefined && { dataDir }),
    });
    const onEnd = onCloud?.(cloud);
    try {
      const control = controlOf(cloud);
      const connect = await connectTo(cloud);
      for (let run = 0, broken = false; run < perCloud && !broken && !next.done; run++) {
        const outcome = await runSchedule(planOf(next.value, deaths), control, { connect, bug, metrics });
        cloud.calls.forget();
        metrics.length = 0;
        next = left.next();
        broken = outcome.violations.some(({ kind }) => kind === 'broke off');
        yield outcome;
      }
      await onEnd?.();
    } finally {
      await cloud.stop();
    }
  }
}

/** What went wrong in a schedule, and all that is needed to see it again. */
export function explain({ plan, violations, strikes }: Outcome): string {
  const { seed, deaths, disturbances } = plan;
  const fewer = deaths === DEATHS ? '' : ` --deaths ${deaths}`;
  return [
    `seed ${seed}: npm run proof -- faults --seed ${seed}${fewer}`,
    ...violations.map(({ kind, what }) => `  ${kind}: ${what}`),
    ...disturbances.map((disturbance) => `  disturbed: ${JSON.stringify(disturbance)}`),
    ...strikes.map((strike) => `  struck: ${strike}`),
  ].join('\n');
}
