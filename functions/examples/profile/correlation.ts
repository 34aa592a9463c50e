import type { ProfileResult } from './definition.ts';
import type { Ordered } from './ordered.ts';
import { at } from './statistics.ts';

export type Pair = Omit<ProfileResult['correlations'][number], 'a' | 'b'>;

/**
 * How two columns move together, over the rows where both have a number: on a line, and by rank, where any rising or
 * falling relation counts. Undefined where that says nothing: fewer than three such rows, or a column constant in them.
 */
export async function correlate(a: Ordered, b: Ordered, pause: () => Promise<void>): Promise<Pair | undefined> {
  const linear = pearson(a.values, b.values);
  if (linear === undefined || linear.rows < 3) return undefined;
  await pause();
  const ranked = pearson(await ranks(a, b.values, pause), await ranks(b, a.values, pause));
  return ranked && { rows: linear.rows, pearson: linear.r, spearman: ranked.r };
}

function pearson(a: Float64Array, b: Float64Array): { rows: number; r: number } | undefined {
  let rows = 0;
  let meanA = 0;
  let meanB = 0;
  let squaresA = 0;
  let squaresB = 0;
  let products = 0;
  for (let row = 0; row < a.length; row += 1) {
    const offA = at(a, row) - meanA;
    const offB = at(b, row) - meanB;
    // Also skips the rows that lack either number.
    if (Number.isNaN(offA) || Number.isNaN(offB)) continue;
    rows += 1;
    meanA += offA / rows;
    meanB += offB / rows;
    squaresA += offA * (at(a, row) - meanA);
    squaresB += offB * (at(b, row) - meanB);
    products += offA * (at(b, row) - meanB);
  }
  const scale = Math.sqrt(squaresA) * Math.sqrt(squaresB);
  if (!(scale > 0) || !Number.isFinite(scale)) return undefined;
  return { rows, r: Math.max(-1, Math.min(1, products / scale)) };
}

/** The ranks of a column among the rows that the other column has too; equal numbers share their mean rank. */
async function ranks(column: Ordered, other: Float64Array, pause: () => Promise<void>): Promise<Float64Array> {
  const { values, order } = column;
  const common = order.filter((row) => !Number.isNaN(other[row]));
  await pause();
  const ranked = new Float64Array(values.length).fill(Number.NaN);
  for (let from = 0; from < common.length; ) {
    const value = values[common[from] ?? 0];
    let to = from + 1;
    while (to < common.length && values[common[to] ?? 0] === value) to += 1;
    for (let index = from; index < to; index += 1) ranked[common[index] ?? 0] = (from + to + 1) / 2;
    from = to;
  }
  await pause();
  return ranked;
}
