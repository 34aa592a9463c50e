import { at } from './statistics.ts';

/** The numbers of one column, with the order that sorts them. */
export interface Ordered {
  /** One number a row, NaN where the row has none. */
  readonly values: Float64Array;
  /** The rows that have a number, smallest number first. */
  readonly order: Uint32Array;
  /** The numbers in that order. */
  readonly sorted: Float64Array;
}

/** Rows that are sorted, and rows that are merged or copied, without a pause: each takes some ten milliseconds. */
const RUN = 65_536;
const MERGED = 262_144;

/** With pauses: millions of rows take seconds. */
export async function ordered(values: Float64Array, pause: () => Promise<void>): Promise<Ordered> {
  let present = 0;
  const rows = new Uint32Array(values.length);
  for (let row = 0; row < values.length; row += 1) {
    if (!Number.isNaN(values[row])) rows[present++] = row;
  }
  const order = await sort(rows.subarray(0, present), values, pause);
  const sorted = new Float64Array(present);
  for (let index = 0; index < present; index += 1) {
    sorted[index] = at(values, order[index] ?? 0);
    if (index % MERGED === 0) await pause();
  }
  return { values, order, sorted };
}

/** Run by run, which are then merged two by two. Takes `rows` for its own. */
async function sort(rows: Uint32Array, values: Float64Array, pause: () => Promise<void>): Promise<Uint32Array> {
  for (let from = 0; from < rows.length; from += RUN) {
    rows.subarray(from, from + RUN).sort((a, b) => at(values, a) - at(values, b));
    await pause();
  }
  let [source, target] = [rows, rows.length > RUN ? rows.slice() : rows];
  for (let width = RUN; width < rows.length; width *= 2) {
    for (let from = 0; from < rows.length; from += 2 * width) {
      await merge(
        source.subarray(from, from + width),
        source.subarray(from + width, from + 2 * width),
        target.subarray(from),
        values,
        pause,
      );
    }
    [source, target] = [target, source];
  }
  return source;
}

/** Of equal numbers the left one comes first. */
async function merge(
  left: Uint32Array,
  right: Uint32Array,
  target: Uint32Array,
  values: Float64Array,
  pause: () => Promise<void>,
): Promise<void> {
  let [l, r] = [0, 0];
  while (l < left.length || r < right.length) {
    const a = left[l];
    const b = right[r];
    const takeRight = a === undefined || (b !== undefined && at(values, b) < at(values, a));
    target[l + r] = (takeRight ? b : a) ?? 0;
    if (takeRight) r += 1;
    else l += 1;
    if ((l + r) % MERGED === 0) await pause();
  }
}
