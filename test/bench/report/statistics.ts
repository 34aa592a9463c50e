import { quantileSorted } from 'simple-statistics';
import type { Ratio } from './row.ts';

/** @param share 0.5 is the median */
export function quantile(values: readonly number[], share: number): number {
  return quantileSorted(
    values.toSorted((a, b) => a - b),
    share,
  );
}

/** The ratios of samples that were taken one right after the other: what slows the machine down strikes both. */
export function paired(samples: readonly number[], base: readonly number[]): Ratio {
  if (samples.length !== base.length || base.length === 0) throw new Error('a sample without its pair');
  const ratios = samples.map((sample, i) => sample / (base[i] as number));
  return {
    median: quantile(ratios, 0.5),
    low: quantile(ratios, 0.1),
    high: quantile(ratios, 0.9),
    pairs: ratios.length,
  };
}

/** Takes one sample of each kind in each round, in an order that changes, and returns the samples by kind. */
export async function interleaved<K extends string>(
  rounds: number,
  kinds: Readonly<Record<K, () => Promise<number>>>,
): Promise<Record<K, number[]>> {
  const names = Object.keys(kinds) as K[];
  const samples = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<K, number[]>;
  for (let round = 0; round < rounds; round++) {
    const order = names.toSorted(() => Math.random() - 0.5);
    for (const name of order) samples[name].push(await kinds[name]());
  }
  return samples;
}

/** Milliseconds that it takes. */
export async function timed(run: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await run();
  return performance.now() - begun;
}
