import type { ProfileResult } from './definition.ts';
import { describeColumn } from './describe.ts';
import { bootstrap, correlate } from './estimates.ts';
import { type Report, stretch } from './report.ts';
import type { Column } from './table/table.ts';
import { shorten } from './words.ts';

const MAX_CORRELATED = 30;
const TOO_MANY = `Correlations cover the first ${MAX_CORRELATED} numeric columns; name others in \`columns\` to compare them.`;

/** All there is to say about a table: columns one by one, then pairs, then intervals (the long part). */
export async function profileTable(
  table: readonly Column[],
  resamples: number,
  report: Report,
): Promise<Omit<ProfileResult, 'source'>> {
  const described = await each(
    table,
    stretch(report, 0, 0.1),
    ({ name }) => `Computing quantiles of ${shorten(name, 40)}`,
    describeColumn,
  );
  const numeric = described.flatMap(({ result: { name }, numbers }) => (numbers ? [{ name, numbers }] : []));
  const compared = numeric.slice(0, MAX_CORRELATED);
  const correlations = await each(
    compared.flatMap((a, index) => compared.slice(index + 1).map((b) => ({ a, b }))),
    stretch(report, 0.1, 0.2),
    ({ a, b }) => `Correlating ${shorten(a.name, 40)} with ${shorten(b.name, 40)}`,
    ({ a, b }) => {
      const pair = correlate(a.numbers.rows, b.numbers.rows);
      return pair ? [{ a: a.name, b: b.name, ...pair }] : [];
    },
  );
  const intervals = await each(
    resamples > 0 ? numeric : [],
    stretch(report, 0.2, 1),
    ({ name }) => `Resampling ${shorten(name, 40)} ${resamples} times`,
    async ({ name, numbers }, tell) => [name, await bootstrap(numbers.sorted, resamples, tell)] as const,
  );
  const intervalsOf = new Map(intervals);
  return {
    rows: table[0]?.cells.length ?? 0,
    columns: described.map(({ result }) => ({ ...result, ...intervalsOf.get(result.name) })),
    correlations: correlations.flat().sort((one, other) => Math.abs(other.pearson) - Math.abs(one.pearson)),
    bootstrap: resamples,
    notes: compared.length < numeric.length ? [TOO_MANY] : [],
  };
}

/** Works on one item after the other, and reports which one it is. `tell` reports how much of one is done, 0 to 1. */
async function each<T, R>(
  items: readonly T[],
  report: Report,
  message: (item: T) => string,
  work: (item: T, tell: (done: number) => Promise<void>) => R | Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  for (const [index, item] of items.entries()) {
    const tell = (done: number): Promise<void> =>
      report(`${message(item)} (${index + 1}/${items.length})`, (index + done) / items.length);
    await tell(0);
    results.push(await work(item, tell));
  }
  return results;
}
