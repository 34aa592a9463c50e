import type { ColumnResult } from '../definition.ts';
import { type Kind, readCell } from './cell.ts';

export type ColumnType = ColumnResult['type'];

/** What one pass over the rows learns about a column. */
export interface Column {
  readonly name: string;
  readonly kinds: Record<Kind, number>;
  /** The row's number, or NaN where it has none; absent until the first number appears. */
  numbers: Float64Array | undefined;
  /** How often each text occurs, for the first `distinctBound` different texts. */
  readonly seen: Map<string, number>;
  readonly distinctBound: number;
  /** False once a text was left out of `seen`. */
  seenAll: boolean;
  earliest: number;
  latest: number;
  shortest: number;
  longest: number;
}

/** A column has a type when at least this share of its present cells fits; the rest is reported as invalid. */
const FITTING_SHARE = 0.95;

export function newColumn(name: string, distinctBound: number): Column {
  return {
    name,
    kinds: { missing: 0, integer: 0, number: 0, boolean: 0, date: 0, string: 0 },
    numbers: undefined,
    seen: new Map(),
    distinctBound,
    seenAll: true,
    earliest: Number.POSITIVE_INFINITY,
    latest: Number.NEGATIVE_INFINITY,
    shortest: Number.POSITIVE_INFINITY,
    longest: 0,
  };
}

export function addCell(column: Column, row: number, raw: string): void {
  const { kind, value } = readCell(raw);
  column.kinds[kind] += 1;
  if (kind === 'integer' || kind === 'number') addNumber(column, row, value);
  if (kind === 'missing') return;
  if (kind === 'date') {
    column.earliest = Math.min(column.earliest, value);
    column.latest = Math.max(column.latest, value);
  }
  column.shortest = Math.min(column.shortest, raw.length);
  column.longest = Math.max(column.longest, raw.length);
  countText(column, raw);
}

function countText(column: Column, text: string): void {
  const count = column.seen.get(text);
  if (count === undefined && column.seen.size >= column.distinctBound) column.seenAll = false;
  else column.seen.set(text, (count ?? 0) + 1);
}

function addNumber(column: Column, row: number, value: number): void {
  if (column.numbers === undefined || row >= column.numbers.length) {
    const grown = new Float64Array(Math.max(1_024, row * 2)).fill(Number.NaN);
    if (column.numbers !== undefined) grown.set(column.numbers);
    column.numbers = grown;
  }
  column.numbers[row] = value;
}

/** One number a row, NaN where the row has none. */
export function numbersOf(column: Column, rows: number): Float64Array {
  const numbers = new Float64Array(rows).fill(Number.NaN);
  if (column.numbers !== undefined) numbers.set(column.numbers.subarray(0, rows));
  return numbers;
}

export function presentCount(column: Column): number {
  const { integer, number, boolean, date, string } = column.kinds;
  return integer + number + boolean + date + string;
}

/** How many present cells fit a type; every integer is a number too. */
export function fittingCount(column: Column, type: ColumnType): number {
  if (type === 'empty') return 0;
  if (type === 'string') return presentCount(column);
  return type === 'number' ? column.kinds.integer + column.kinds.number : column.kinds[type];
}

/** The narrowest type that (nearly) all present cells fit. */
export function typeOf(column: Column): ColumnType {
  const present = presentCount(column);
  if (present === 0) return 'empty';
  const fits = (type: ColumnType): boolean => fittingCount(column, type) >= present * FITTING_SHARE;
  if (fits('number')) return column.kinds.number === 0 ? 'integer' : 'number';
  if (fits('boolean')) return 'boolean';
  return fits('date') ? 'date' : 'string';
}

export const isNumeric = (type: ColumnType): boolean => type === 'integer' || type === 'number';
