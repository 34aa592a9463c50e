/** Computes the bars of a lane, in percent of the whole width. */

/** @typedef {import('../../../../functions/operator/timeline.ts').Span} Span */

/** The least widths: even the shortest bar is visible, and a failure more so. */
const [LEAST, LEAST_FAILED] = [0.3, 0.8];

/**
 * The bars in the order in which they are drawn: failures come last, over all others.
 *
 * @param {readonly Span[]} spans @param {number} from @param {number} to both in ms, of the whole timeline
 * @returns {{ kind: string, x: number, width: number }[]}
 */
export function bars(spans, from, to) {
  const whole = Math.max(1, to - from);
  const all = spans.map((span) => {
    const failed = span.error !== undefined;
    const width = Math.max(failed ? LEAST_FAILED : LEAST, ((span.to - span.from) / whole) * 100);
    const x = Math.max(0, Math.min(((span.from - from) / whole) * 100, 100 - width));
    return { kind: failed ? 'failed' : span.waiting, x, width };
  });
  return all.toSorted((a, b) => Number(a.kind === 'failed') - Number(b.kind === 'failed'));
}

/** A text such as `1 of 3 tries failed (Throttled)`; empty if none failed. @param {readonly Span[]} spans */
export function failures(spans) {
  const errors = spans.flatMap(({ error }) => error ?? []);
  if (errors.length === 0) return '';
  const tries = spans.filter(({ waiting, error }) => waiting === 'tool' || error !== undefined).length;
  return `${errors.length} of ${tries} ${tries === 1 ? 'try' : 'tries'} failed (${[...new Set(errors)].join(', ')})`;
}
