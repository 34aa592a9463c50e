const digits = { maximumSignificantDigits: 5, maximumFractionDigits: 0, roundingPriority: 'morePrecision' } as const;
const plain = new Intl.NumberFormat('en-US', digits);
const scientific = new Intl.NumberFormat('en-US', { ...digits, notation: 'scientific' });

/** A number as people read it, e.g. 100,000: five digits, or all digits before the point when there are more. */
export function formatted(value: number): string {
  const size = Math.abs(value);
  return (size >= 1e15 || (size > 0 && size < 1e-6) ? scientific : plain).format(value);
}

/** Cut between characters, never inside a surrogate pair. */
export function shorten(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
