import type { ColumnResult, ProfileResult } from './definition.ts';
import { formatted } from './words.ts';

const MAX_ROWS = 30;
const MAX_CORRELATIONS = 10;

/** The result as a table that people and models can read. */
export function textOf({ source, rows, columns, correlations, notes }: ProfileResult): string {
  const hidden = columns.length - MAX_ROWS;
  return [
    `Profile of ${source}: ${formatted(rows)} rows, ${formatted(columns.length)} columns.`,
    '',
    '| column | type | values | missing | distinct | what they are |',
    '|---|---|---:|---:|---:|---|',
    ...columns.slice(0, MAX_ROWS).map(tableRow),
    ...(hidden > 0 ? ['', `${formatted(hidden)} more columns are in the structured content.`] : []),
    ...(correlations.length > 0 ? ['', 'Strongest correlations (Pearson, Spearman, rows with both):'] : []),
    ...correlations.slice(0, MAX_CORRELATIONS).map(({ a, b, pearson, spearman, rows: both }) => {
      return `- ${inCell(a)} and ${inCell(b)}: ${pearson.toFixed(3)}, ${spearman.toFixed(3)}, ${formatted(both)}`;
    }),
    ...notes.map((note) => `\n${note}`),
  ].join('\n');
}

function tableRow(column: ColumnResult): string {
  const distinct = `${column.distinctExact ? '' : 'over '}${formatted(column.distinct)}`;
  const counts = [formatted(column.count), formatted(column.missing), distinct];
  return `| ${[inCell(column.name), column.type, ...counts, gist(column)].join(' | ')} |`;
}

/** What a reader wants to know first about a column of this type. */
function gist(column: ColumnResult): string {
  const { min, max, mean, stddev, quantiles: q, earliest, latest, topValues = [] } = column;
  const facts: string[] = [];
  if (q !== undefined) {
    facts.push(
      `${short(min)} to ${short(max)}`,
      `mean ${short(mean)}${interval(column.meanInterval)}`,
      `stddev ${short(stddev)}`,
      `median ${short(q.p50)}${interval(column.medianInterval)}`,
      `p5/p25/p75/p95 ${[q.p05, q.p25, q.p75, q.p95].map(short).join(' / ')}`,
    );
  }
  if (earliest !== undefined) facts.push(`${earliest} to ${latest}`);
  if (topValues.length > 0) {
    facts.push(topValues.map(({ value, count }) => `${inCell(value)} ×${formatted(count)}`).join(', '));
  }
  if (column.invalid > 0) facts.push(`${formatted(column.invalid)} not ${column.type}`);
  return facts.join('; ');
}

const short = (value: number | undefined): string => (value === undefined ? '' : formatted(value));
const interval = (of: ColumnResult['meanInterval']): string =>
  of ? ` (95% ${short(of.low)} to ${short(of.high)})` : '';
const inCell = (text: string): string => text.replace(/\s+/g, ' ').replaceAll('|', '\\|');
