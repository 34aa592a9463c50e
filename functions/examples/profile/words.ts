/** A number as people read it, e.g. 100,000. */
export const count = (value: number, maximumFractionDigits = 0): string =>
  value.toLocaleString('en-US', { maximumFractionDigits });

/** Cut between characters, never inside a surrogate pair. */
export function shorten(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
