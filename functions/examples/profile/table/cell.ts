/** What one cell of a CSV can be. The order of the checks below is the order of precedence. */
export type Kind = 'missing' | 'integer' | 'number' | 'boolean' | 'date' | 'string';

export interface Cell {
  readonly kind: Kind;
  /** Integers and numbers: the number. Dates: milliseconds since the epoch. Otherwise NaN. */
  readonly value: number;
}

const MISSING_WORDS = new Set(['', 'na', 'n/a', 'null', 'nan']);
const BOOLEAN_WORDS = new Set(['true', 'false', 'yes', 'no']);
/** Leading zeros (01234) mark an identifier such as a postal code, which is no number. */
const NUMBER = /^[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
const INTEGER = /^[+-]?\d+$/;
const DATE = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:?\d\d)?)?$/;

const LONGEST_TYPED = 40;
/** Larger numbers would overflow when squared and summed. */
const LARGEST = 1e150;
const TEXT: Cell = { kind: 'string', value: Number.NaN };
const MISSING_CELL: Cell = { kind: 'missing', value: Number.NaN };
const BOOLEAN_CELL: Cell = { kind: 'boolean', value: Number.NaN };

export function readCell(raw: string): Cell {
  const text = raw.trim();
  if (text.length > LONGEST_TYPED) return TEXT;
  const lower = text.toLowerCase();
  if (MISSING_WORDS.has(lower)) return MISSING_CELL;
  if (NUMBER.test(text)) return readNumber(text);
  if (BOOLEAN_WORDS.has(lower)) return BOOLEAN_CELL;
  return readDate(text) ?? TEXT;
}

function readNumber(text: string): Cell {
  const value = Number(text);
  if (!INTEGER.test(text)) return Math.abs(value) <= LARGEST ? { kind: 'number', value } : TEXT;
  // Beyond 2^53 two different texts could become one number: such integers are identifiers, so they stay texts.
  return Number.isSafeInteger(value) ? { kind: 'integer', value } : TEXT;
}

/** ISO 8601 dates and date-times; without an offset they count as UTC. */
function readDate(text: string): Cell | undefined {
  const parts = DATE.exec(text);
  if (parts === null) return undefined;
  const [, year, month, day, time = '00:00', zone = 'Z'] = parts;
  const value = Date.parse(`${year}-${month}-${day}T${time}${zone}`);
  // Date.parse takes 30 February for 2 March.
  const lastDay = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return Number.isNaN(value) || Number(day) > lastDay ? undefined : { kind: 'date', value };
}
