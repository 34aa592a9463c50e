import type { ColumnResult, ProfileResult } from './definition.ts';
import type { ColumnProfile } from './describe.ts';
import type { Profile } from './profile.ts';
import { type Detail, notesOf, textOf } from './text.ts';
import { shorten } from './words.ts';

const FULL: Detail = { topValues: 5, textChars: 60, tableRows: 60, correlations: 60, digits: 10, intervals: true };
const SHORT: Detail = { topValues: 3, textChars: 24, tableRows: 30, correlations: 30, digits: 10, intervals: true };
const BARE: Detail = { topValues: 0, textChars: 16, tableRows: 10, correlations: 10, digits: 6, intervals: false };
const MAX_BYTES = 96_000;

export interface Rendered {
  readonly text: string;
  readonly structured: ProfileResult;
}

/** The most detailed rendering that stays below 100 KB. */
export function render(title: string, profile: Profile): Rendered {
  for (const detail of [FULL, SHORT]) {
    const rendered = renderIn(title, profile, detail);
    if (Buffer.byteLength(JSON.stringify(rendered)) <= MAX_BYTES) return rendered;
  }
  return renderIn(title, profile, BARE);
}

function renderIn(title: string, profile: Profile, detail: Detail): Rendered {
  const structured = {
    source: shorten(title, 300),
    rows: profile.rows,
    columns: profile.columns.map((column) => structuredColumn(column, detail)),
    correlations: profile.correlations
      .slice(0, detail.correlations)
      .map(({ a, b, ...pair }) => ({ a: shorten(a, detail.textChars), b: shorten(b, detail.textChars), ...pair })),
    bootstrap: profile.bootstrap,
    notes: notesOf(profile, detail),
  };
  return { text: textOf(title, profile, detail), structured: withDigits(structured, detail.digits) };
}

function structuredColumn(column: ColumnProfile, detail: Detail): ColumnResult {
  const { name, summary, topValues, meanInterval, medianInterval, ...rest } = column;
  const shown = topValues?.slice(0, detail.topValues).map(({ value, count }) => {
    return { value: shorten(value, detail.textChars), count };
  });
  return {
    name: shorten(name, detail.textChars),
    ...rest,
    ...summary,
    ...(detail.intervals && { meanInterval, medianInterval }),
    ...(shown?.length && { topValues: shown }),
  };
}

/** Rounds what a sample cannot tell anyway; whole numbers stay whole. JSON also drops what is undefined. */
function withDigits<T extends object>(structured: T, digits: number): T {
  const rounded = (_key: string, part: unknown): unknown =>
    typeof part === 'number' && !Number.isSafeInteger(part) ? Number(part.toPrecision(digits)) : part;
  return JSON.parse(JSON.stringify(structured, rounded));
}
