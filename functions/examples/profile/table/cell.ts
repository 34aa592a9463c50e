const MISSING = /^(?:na|n\/a|null|nan)?$/i;
const BOOLEAN = /^(?:true|false|yes|no)$/i;
/** Leading zeros (01234) mark an identifier such as a postal code, which is no number. */
const NUMBER = /^[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
const INTEGER = /^[+-]?\d+$/;
/** Larger numbers would overflow when squared and summed. */
const LARGEST = 1e150;
const DATE = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:?\d\d)?)?$/;

export const isMissing = (cell: string): boolean => MISSING.test(cell);
export const isBoolean = (cell: string): boolean => BOOLEAN.test(cell);

/** The number in a cell, or NaN. */
export function numberOf(cell: string): number {
  if (!NUMBER.test(cell)) return Number.NaN;
  const value = Number(cell);
  // Beyond 2^53 two different texts could become one number: such integers are identifiers, so they stay texts.
  const largest = INTEGER.test(cell) ? Number.MAX_SAFE_INTEGER : LARGEST;
  return Math.abs(value) <= largest ? value : Number.NaN;
}

/** Milliseconds since the epoch of an ISO 8601 date or date-time, or NaN. Without an offset it counts as UTC. */
export function dateOf(cell: string): number {
  const [, day = '', time = '00:00', zone = 'Z'] = DATE.exec(cell) ?? [];
  const midnight = Date.parse(`${day}T00:00Z`);
  // Date.parse takes 30 February for 2 March.
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(day)) return Number.NaN;
  return Date.parse(`${day}T${time}${zone}`);
}
