import type { ProfileResult } from './definition.ts';
import { textOf } from './text.ts';
import { formatted, shorten } from './words.ts';

/** In bytes of JSON, for the text and the structured result together. */
const MAX_BYTES = 96_000;
const TOO_WIDE = 'Intervals and frequent values are left out of a table this wide; name fewer columns in `columns`.';

/** Both forms of the result. Of the columns of a wide table they say less, so that they fit. */
export function render(profile: ProfileResult) {
  const full = rendered(profile, { chars: 60, correlations: 60, digits: 10 });
  if (Buffer.byteLength(JSON.stringify(full)) <= MAX_BYTES) return full;
  const columns = profile.columns.map(({ meanInterval, medianInterval, topValues, ...column }) => column);
  const bare = { ...profile, columns, notes: [...profile.notes, TOO_WIDE] };
  return rendered(bare, { chars: 16, correlations: 10, digits: 6 });
}

function rendered(profile: ProfileResult, most: { chars: number; correlations: number; digits: number }) {
  const hidden = profile.correlations.length - most.correlations;
  const notes = hidden > 0 ? [`${formatted(hidden)} weaker correlations are not shown.`] : [];
  const shown = {
    ...profile,
    correlations: profile.correlations.slice(0, most.correlations),
    notes: [...profile.notes, ...notes],
  };
  const isLabel = (key: string): boolean => key === 'name' || key === 'value' || key === 'a' || key === 'b';
  // Digits past these are noise in a sample. Whole numbers stay whole.
  const cut = (key: string, part: unknown): unknown => {
    if (typeof part === 'string' && isLabel(key)) return shorten(part, most.chars);
    return typeof part === 'number' && !Number.isSafeInteger(part) ? Number(part.toPrecision(most.digits)) : part;
  };
  const structured: ProfileResult = JSON.parse(JSON.stringify(shown, cut));
  return { text: textOf(structured), structured };
}
