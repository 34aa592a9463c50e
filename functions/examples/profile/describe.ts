import type { ColumnResult } from './definition.ts';
import { distinctCount, type Summary, summarize } from './statistics.ts';
import { type Column, type ColumnType, fittingCount, presentCount, typeOf } from './table/column.ts';

/** A column of the result, its numbers' summary still apart. */
export type ColumnProfile = Omit<ColumnResult, keyof Summary> & { readonly summary?: Summary };

const TOP_VALUES = 5;

export function describeNumbers(column: Column, sorted: Float64Array): ColumnProfile {
  const distinct = { distinct: distinctCount(sorted), distinctExact: true };
  return { ...counts(column, typeOf(column)), ...distinct, summary: summarize(sorted) };
}

export function describeTexts(column: Column): ColumnProfile {
  const type = typeOf(column);
  const profile = counts(column, type);
  if (type === 'empty') return profile;
  if (type === 'date') return { ...profile, earliest: iso(column.earliest), latest: iso(column.latest) };
  const topValues = topOf(column.seen);
  if (type === 'boolean') return { ...profile, topValues };
  return { ...profile, shortest: column.shortest, longest: column.longest, topValues };
}

function counts(column: Column, type: ColumnType) {
  const present = presentCount(column);
  return {
    name: column.name,
    type,
    count: present,
    missing: column.kinds.missing,
    invalid: present - fittingCount(column, type),
    distinct: column.seen.size,
    distinctExact: column.seenAll,
  };
}

/** By count, then by text, so that ties do not depend on the order of the rows. */
function topOf(seen: ReadonlyMap<string, number>) {
  return [...seen]
    .sort(([textA, a], [textB, b]) => b - a || (textA < textB ? -1 : 1))
    .slice(0, TOP_VALUES)
    .map(([value, count]) => ({ value, count }));
}

function iso(ms: number): string {
  return new Date(ms)
    .toISOString()
    .replace(/T00:00:00\.000Z$/, '')
    .replace(/\.000Z$/, 'Z');
}
