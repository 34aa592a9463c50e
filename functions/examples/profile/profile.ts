import { bootstrap, type Intervals } from './bootstrap.ts';
import { correlate } from './correlation.ts';
import type { ProfileResult } from './definition.ts';
import { type ColumnProfile, describeNumbers, describeTexts } from './describe.ts';
import { type Ordered, ordered } from './ordered.ts';
import { type Report, stretch } from './report.ts';
import { isNumeric, numbersOf, typeOf } from './table/column.ts';
import type { Table } from './table/table.ts';
import { shorten } from './words.ts';

/** The result before it is cut to size. */
export type Profile = Omit<ProfileResult, 'source' | 'columns'> & { readonly columns: readonly ColumnProfile[] };

interface NumericColumn {
  readonly name: string;
  readonly numbers: Ordered;
}

const MAX_CORRELATED = 30;

const named = ({ name }: { readonly name: string }): string => shorten(name, 40);

/** All there is to say about a table: columns one by one, then pairs, then intervals (the long part). */
export async function profileTable(table: Table, resamples: number, report: Report): Promise<Profile> {
  const { columns, numeric } = await describeAll(table, stretch(report, 0, 0.1));
  const compared = numeric.slice(0, MAX_CORRELATED);
  const correlations = await correlateAll(compared, stretch(report, 0.1, 0.2));
  const intervals = await bootstrapAll(resamples > 0 ? numeric : [], resamples, stretch(report, 0.2, 1));
  const notes =
    compared.length < numeric.length
      ? [`Correlations cover the first ${MAX_CORRELATED} numeric columns; name others in \`columns\` to compare them.`]
      : [];
  const withIntervals = columns.map((column) => ({ ...column, ...intervals.get(column.name) }));
  return { rows: table.rows, columns: withIntervals, correlations, bootstrap: resamples, notes };
}

async function describeAll(table: Table, report: Report) {
  const columns: ColumnProfile[] = [];
  const numeric: NumericColumn[] = [];
  for (const [index, column] of table.columns.entries()) {
    const done = index / table.columns.length;
    await report(`Computing quantiles of ${named(column)} (${index + 1}/${table.columns.length})`, done);
    if (!isNumeric(typeOf(column))) {
      columns.push(describeTexts(column));
      continue;
    }
    const numbers = await ordered(numbersOf(column, table.rows), report);
    columns.push(describeNumbers(column, numbers.sorted));
    numeric.push({ name: column.name, numbers });
  }
  return { columns, numeric };
}

async function correlateAll(columns: readonly NumericColumn[], report: Report) {
  const pairs = columns.flatMap((a, index) => columns.slice(index + 1).map((b) => [a, b] as const));
  const found: Profile['correlations'] = [];
  for (const [index, [a, b]] of pairs.entries()) {
    await report(`Correlating ${named(a)} with ${named(b)} (${index + 1}/${pairs.length})`, index / pairs.length);
    const pair = await correlate(a.numbers, b.numbers, report);
    if (pair !== undefined) found.push({ a: a.name, b: b.name, ...pair });
  }
  return found.sort((one, other) => Math.abs(other.pearson) - Math.abs(one.pearson));
}

async function bootstrapAll(columns: readonly NumericColumn[], resamples: number, report: Report) {
  const intervals = new Map<string, Intervals>();
  for (const [index, column] of columns.entries()) {
    const message = `Resampling ${named(column)} ${resamples} times (${index + 1}/${columns.length})`;
    const tell = (done?: number): Promise<void> =>
      done === undefined ? report() : report(message, (index + done) / columns.length);
    intervals.set(column.name, await bootstrap(column.numbers.sorted, resamples, tell));
  }
  return intervals;
}
