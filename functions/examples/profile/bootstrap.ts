import type { ColumnResult } from './definition.ts';
import { at, quantile } from './statistics.ts';

export type Intervals = Required<Pick<ColumnResult, 'meanInterval' | 'medianInterval'>>;

const SEED = 0x2545f491;
const DRAWS_PER_REPORT = 2_000_000;
const DRAWS_PER_PAUSE = 1_000_000;

/**
 * 95 % confidence intervals of mean and median (percentile bootstrap): how much would they move, had we drawn other
 * rows? Each resample draws as many numbers as there are, with repetition. The seed is fixed: same data, same answer.
 */
export async function bootstrap(
  sorted: Float64Array,
  resamples: number,
  report: (done?: number) => Promise<void>,
): Promise<Intervals> {
  const means = new Float64Array(resamples);
  const medians = new Float64Array(resamples);
  const drawn = new Uint32Array(sorted.length);
  const draws: Draws = { state: SEED, sum: 0 };
  const perReport = Math.max(1, Math.floor(DRAWS_PER_REPORT / sorted.length));
  for (let index = 0; index < resamples; index += 1) {
    drawn.fill(0);
    draws.sum = 0;
    for (let left = sorted.length; left > 0; left -= DRAWS_PER_PAUSE) {
      if (left < sorted.length) await report();
      draw(sorted, drawn, draws, Math.min(left, DRAWS_PER_PAUSE));
    }
    means[index] = draws.sum / sorted.length;
    medians[index] = medianOfDrawn(sorted, drawn);
    if ((index + 1) % perReport === 0) await report((index + 1) / resamples);
  }
  return { meanInterval: middle95(means), medianInterval: middle95(medians) };
}

interface Draws {
  /** Of the random numbers. */
  state: number;
  sum: number;
}

/** Draws so many numbers, adds them up, and counts how often each was drawn. */
function draw(sorted: Float64Array, drawn: Uint32Array, draws: Draws, times: number): void {
  const size = sorted.length;
  let { state, sum } = draws;
  for (let left = times; left > 0; left -= 1) {
    // Xorshift32, inlined: this loop runs some hundred million times.
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const index = Math.floor(((state >>> 0) / 4_294_967_296) * size);
    drawn[index] = (drawn[index] ?? 0) + 1;
    sum += at(sorted, index);
  }
  draws.state = state;
  draws.sum = sum;
}

/** The numbers are in order, so counting up to the middle finds the median without sorting the resample. */
function medianOfDrawn(sorted: Float64Array, drawn: Uint32Array): number {
  const size = sorted.length;
  let index = -1;
  let passed = 0;
  while (passed <= (size - 1) >> 1) passed += drawn[++index] ?? size;
  const low = at(sorted, index);
  while (passed <= size >> 1) passed += drawn[++index] ?? size;
  return (low + at(sorted, index)) / 2;
}

function middle95(estimates: Float64Array) {
  const sorted = estimates.slice().sort();
  return { low: quantile(sorted, 0.025), high: quantile(sorted, 0.975) };
}
