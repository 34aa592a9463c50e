import {
  extent,
  extentSorted,
  mean,
  quantileSorted,
  sampleStandardDeviation,
  uniqueCountSorted,
} from 'simple-statistics';
import type { ColumnResult } from './definition.ts';
import { dateOf, isBoolean, isMissing, numberOf } from './table/cell.ts';
import type { Column } from './table/table.ts';

export interface Described {
  readonly result: ColumnResult;
  /** Of a numeric column: one number a row, NaN where the row has none; and those there are, in order. */
  readonly numbers?: { readonly rows: readonly number[]; readonly sorted: readonly number[] };
}

/** A column has a type when at least this share of its present cells fits; the rest is reported as invalid. */
const FITTING_SHARE = 0.95;
const MAX_DISTINCT = 50_000;
const TOP_VALUES = 5;

/** Finds the narrowest type that (nearly) all present cells fit, and says what such a column holds. */
export function describeColumn({ name, cells }: Column): Described {
  const present = cells.filter((cell) => !isMissing(cell));
  const result = <F>(type: ColumnResult['type'], fitting: readonly unknown[], facts: F) => {
    const [count, missing] = [present.length, cells.length - present.length];
    return { name, type, count, missing, invalid: count - fitting.length, ...facts };
  };
  if (present.length === 0) return { result: result('empty', [], { distinct: 0, distinctExact: true }) };
  const isMost = (fitting: readonly unknown[]): boolean => fitting.length >= present.length * FITTING_SHARE;

  const rows = cells.map(numberOf);
  const sorted = [...Float64Array.from(rows.filter(Number.isFinite)).sort()];
  const type = sorted.every(Number.isInteger) ? 'integer' : 'number';
  if (isMost(sorted)) return { result: result(type, sorted, summary(sorted)), numbers: { rows, sorted } };

  const { topValues, ...distinct } = countTexts(present);
  const booleans = present.filter(isBoolean);
  if (isMost(booleans)) return { result: result('boolean', booleans, { ...distinct, topValues }) };

  const dates = present.map(dateOf).filter(Number.isFinite);
  if (isMost(dates)) {
    const [first, last] = extent(dates);
    return { result: result('date', dates, { ...distinct, earliest: iso(first), latest: iso(last) }) };
  }

  const [shortest, longest] = extent(present.map((text) => text.length));
  return { result: result('string', present, { ...distinct, shortest, longest, topValues }) };
}

function summary(sorted: number[]) {
  const [min, max] = extentSorted(sorted);
  const p = (share: number): number => quantileSorted(sorted, share);
  return {
    distinct: uniqueCountSorted(sorted),
    distinctExact: true,
    min,
    max,
    mean: mean(sorted),
    stddev: sorted.length > 1 ? sampleStandardDeviation(sorted) : 0,
    quantiles: { p05: p(0.05), p25: p(0.25), p50: p(0.5), p75: p(0.75), p95: p(0.95) },
  };
}

function countTexts(texts: readonly string[]) {
  const counts = new Map<string, number>();
  let distinctExact = true;
  for (const text of texts) {
    const count = counts.get(text) ?? 0;
    if (count === 0 && counts.size === MAX_DISTINCT) distinctExact = false;
    else counts.set(text, count + 1);
  }
  const topValues = [...counts]
    .map(([value, count]) => ({ value, count }))
    // Equally frequent ones by text, so that the order of the rows does not matter.
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, TOP_VALUES);
  return { distinct: counts.size, distinctExact, topValues };
}

const iso = (ms: number): string => new Date(ms).toISOString().replace('T00:00:00.000Z', '').replace('.000Z', 'Z');
