import { median, quantile } from 'simple-statistics';

export const STEPS = ['load', 'first discover', 'first create', 'first poll'] as const;
export type Step = (typeof STEPS)[number];

/** In ms. `cpu` is what the main thread computed: it leaves out all waiting, so a busy machine changes it less. */
export interface Times {
  readonly wall: number;
  readonly cpu: number;
}

/** One cold start. */
export type Sample = Readonly<Record<Step, Times>>;
/** One sample of each arm, taken one after the other. */
export type Round<Arm extends string = string> = Readonly<Record<Arm, Sample>>;

export interface Measured {
  /** In ms. */
  readonly median: number;
  /** The median of the ratios to the base in the same round. */
  readonly ratio: number;
  /** The 10th and the 90th percentile of these ratios. */
  readonly spread: readonly [number, number];
  /** How many ratios there are. The CPU time of a short step can be 0: a pair with 0 has none. */
  readonly pairs: number;
}

/** Beside `cpu`, the numbers are of the wall clock. */
export interface Row extends Measured {
  readonly arm: string;
  readonly step: Step | typeof SUM;
  /** The arm that the ratio is to. */
  readonly base: string;
  /** The same ratio for the CPU time of the main thread. */
  readonly cpu: Measured;
}

/** The steps of the function that a call without a container waits for. */
const SUM = 'load and first create';

/** @param pairs an arm, and the arm that it is compared with */
export function rowsOf(rounds: readonly Round[], pairs: readonly (readonly [arm: string, base: string])[]): Row[] {
  return pairs.flatMap(([arm, base]) =>
    [...STEPS, SUM as typeof SUM].map((step) => {
      const both = rounds.flatMap(({ [arm]: one, [base]: other }) => (one && other ? [[one, other] as const] : []));
      const cpu = measured(both, step, 'cpu');
      return { arm, step, base, ...measured(both, step, 'wall'), cpu };
    }),
  );
}

function measured(both: readonly (readonly [Sample, Sample])[], step: Row['step'], clock: keyof Times): Measured {
  const timeOf = (sample: Sample) =>
    step === SUM ? sample.load[clock] + sample['first create'][clock] : sample[step][clock];
  const ratios = both.flatMap(([one, other]) => (timeOf(other) > 0 ? [timeOf(one) / timeOf(other)] : []));
  return {
    median: median(both.map(([one]) => timeOf(one))),
    ratio: median(ratios),
    spread: [quantile(ratios, 0.1), quantile(ratios, 0.9)],
    pairs: ratios.length,
  };
}
