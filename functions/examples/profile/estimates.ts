import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { quantile, sampleCorrelation, sampleRankCorrelation } from 'simple-statistics';

import type { ColumnResult } from './definition.ts';

type Intervals = Required<Pick<ColumnResult, 'meanInterval' | 'medianInterval'>>;

const SEED = 42;

/**
 * 95 % confidence intervals of mean and median (percentile bootstrap): how much would they move, had we drawn other
 * rows? Each resample draws as many numbers as there are, with repetition. The seed is fixed: same data, same answer.
 */
export async function bootstrap(
  sorted: readonly number[],
  resamples: number,
  report: (done: number) => Promise<void>,
): Promise<Intervals> {
  const size = sorted.length;
  const random = xoroshiro128plus(SEED);
  /** How often each number was drawn: counting them finds the median, much faster than sorting what was drawn. */
  const times = new Uint32Array(size);
  const means: number[] = [];
  const medians: number[] = [];
  while (means.length < resamples) {
    times.fill(0);
    let sum = 0;
    for (let drawn = 0; drawn < size; drawn += 1) {
      const index = Math.floor(((random.next() >>> 0) / 2 ** 32) * size);
      times[index] = (times[index] ?? 0) + 1;
      sum += sorted[index] ?? 0;
    }
    means.push(sum / size);
    medians.push((drawnAt((size - 1) >> 1, sorted, times) + drawnAt(size >> 1, sorted, times)) / 2);
    await report(means.length / resamples);
  }
  return { meanInterval: middle95(means), medianInterval: middle95(medians) };
}

/** The number at a place of the resample, if that were sorted. */
function drawnAt(place: number, sorted: readonly number[], times: Uint32Array): number {
  let index = 0;
  for (let left = place; left >= (times[index] ?? Number.POSITIVE_INFINITY); index += 1) left -= times[index] ?? 0;
  return sorted[index] ?? 0;
}

const middle95 = (estimates: number[]) => ({ low: quantile(estimates, 0.025), high: quantile(estimates, 0.975) });

/**
 * How two columns move together, over the rows where both have a number: on a line, and by rank, where any rising or
 * falling relation counts. Undefined where that says nothing: fewer than three such rows, or a column constant in them.
 */
export function correlate(a: readonly number[], b: readonly number[]) {
  const inBoth = (_: number, row: number): boolean => Number.isFinite(a[row]) && Number.isFinite(b[row]);
  const [x, y] = [a.filter(inBoth), b.filter(inBoth)];
  if (x.length < 3) return undefined;
  const [pearson, spearman] = [within1(sampleCorrelation(x, y)), within1(sampleRankCorrelation(x, y))];
  return Number.isNaN(pearson + spearman) ? undefined : { rows: x.length, pearson, spearman };
}

/** Rounding takes a perfect correlation a little past 1. */
const within1 = (r: number): number => Math.max(-1, Math.min(1, r));
