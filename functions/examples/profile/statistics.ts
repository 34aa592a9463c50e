import type { ColumnResult } from './definition.ts';

export type Summary = Required<Pick<ColumnResult, 'min' | 'max' | 'mean' | 'stddev' | 'quantiles'>>;

/** Exact, of numbers in ascending order; there must be at least one. */
export function summarize(sorted: Float64Array): Summary {
  const mean = meanOf(sorted);
  const p = (share: number): number => quantile(sorted, share);
  return {
    min: at(sorted, 0),
    max: at(sorted, sorted.length - 1),
    mean,
    stddev: deviation(sorted, mean),
    quantiles: { p05: p(0.05), p25: p(0.25), p50: p(0.5), p75: p(0.75), p95: p(0.95) },
  };
}

/** Linear between the two nearest numbers (Hyndman-Fan type 7, what R, NumPy and spreadsheets do by default). */
export function quantile(sorted: Float64Array, share: number): number {
  const position = (sorted.length - 1) * share;
  const low = Math.floor(position);
  const below = at(sorted, low);
  const above = at(sorted, Math.min(low + 1, sorted.length - 1));
  // Weighted from below, and never past `above` by rounding: quantiles stay in order.
  return below === above ? below : Math.min(above, below + (above - below) * (position - low));
}

export function distinctCount(sorted: Float64Array): number {
  let distinct = 0;
  for (let index = 0; index < sorted.length; index += 1) {
    if (index === 0 || sorted[index] !== sorted[index - 1]) distinct += 1;
  }
  return distinct;
}

function meanOf(values: Float64Array): number {
  let mean = 0;
  for (let index = 0; index < values.length; index += 1) mean += (at(values, index) - mean) / (index + 1);
  return mean;
}

/** Of a sample (n - 1); 0 for a single number. */
function deviation(values: Float64Array, mean: number): number {
  if (values.length < 2) return 0;
  let squares = 0;
  for (let index = 0; index < values.length; index += 1) squares += (at(values, index) - mean) ** 2;
  return Math.sqrt(squares / (values.length - 1));
}

/** An index known to be inside; NaN if it is not. */
export function at(values: Float64Array, index: number): number {
  return values[index] ?? Number.NaN;
}
