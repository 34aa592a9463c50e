import type { ColumnProfile } from './describe.ts';
import type { Profile } from './profile.ts';
import { count, shorten } from './words.ts';

/** How much of a profile to show; wide tables show less of each column, so that a result stays readable and small. */
export interface Detail {
  readonly topValues: number;
  readonly textChars: number;
  readonly tableRows: number;
  readonly correlations: number;
  readonly digits: number;
  readonly intervals: boolean;
}

/** The profile as a table people and models can read. */
export function textOf(title: string, profile: Profile, detail: Detail): string {
  const shown = profile.columns.slice(0, detail.tableRows);
  const left = profile.columns.length - shown.length;
  return [
    `Profile of ${shorten(title, 300)}: ${count(profile.rows)} rows, ${count(profile.columns.length)} columns.`,
    '',
    '| column | type | values | missing | distinct | what they are |',
    '|---|---|---:|---:|---:|---|',
    ...shown.map((column) => tableRow(column, detail)),
    ...(left > 0 ? ['', `${count(left)} more columns are in the structured content.`] : []),
    ...correlationLines(profile.correlations, detail),
    ...notesOf(profile, detail).map((note) => `\n${note}`),
  ].join('\n');
}

function tableRow(column: ColumnProfile, detail: Detail): string {
  const distinct = `${column.distinctExact ? '' : 'over '}${count(column.distinct)}`;
  const name = inCell(column.name, detail);
  return `| ${name} | ${column.type} | ${count(column.count)} | ${count(column.missing)} | ${distinct} | ${gist(column, detail)} |`;
}

/** What a reader wants to know first about a column of this type. */
function gist(column: ColumnProfile, detail: Detail): string {
  const { summary, meanInterval: mean, medianInterval: median } = column;
  const facts: string[] = [];
  if (summary !== undefined) {
    const { p05, p25, p50, p75, p95 } = summary.quantiles;
    facts.push(`${short(summary.min)} to ${short(summary.max)}`);
    facts.push(`mean ${short(summary.mean)}${mean ? ` (95% ${short(mean.low)} to ${short(mean.high)})` : ''}`);
    facts.push(`stddev ${short(summary.stddev)}`);
    facts.push(`median ${short(p50)}${median ? ` (95% ${short(median.low)} to ${short(median.high)})` : ''}`);
    facts.push(`p5/p25/p75/p95 ${[p05, p25, p75, p95].map(short).join(' / ')}`);
  }
  if (column.earliest !== undefined) facts.push(`${column.earliest} to ${column.latest}`);
  const top = column.topValues?.slice(0, detail.topValues) ?? [];
  if (top.length > 0) facts.push(top.map(({ value, count: n }) => `${inCell(value, detail)} ×${count(n)}`).join(', '));
  if (column.invalid > 0) facts.push(`${count(column.invalid)} not ${column.type}`);
  return facts.join('; ');
}

function correlationLines(correlations: Profile['correlations'], detail: Detail): string[] {
  const strongest = correlations.slice(0, 10);
  if (strongest.length === 0) return [];
  const name = (text: string): string => inCell(text, detail);
  return [
    '',
    'Strongest correlations (Pearson, Spearman, rows with both):',
    ...strongest.map(
      ({ a, b, pearson, spearman, rows }) =>
        `- ${name(a)} and ${name(b)}: ${pearson.toFixed(3)}, ${spearman.toFixed(3)}, ${count(rows)}`,
    ),
  ];
}

const inCell = (text: string, detail: Detail): string =>
  shorten(text, detail.textChars).replace(/\s+/g, ' ').replaceAll('|', '\\|');

/** Five digits, or all digits before the point when there are more. */
function short(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e15 || (size > 0 && size < 1e-6)) return value.toExponential(4);
  return count(size >= 10_000 ? Math.round(value) : Number(value.toPrecision(5)), 9);
}

const TOO_WIDE = 'Intervals and frequent values are left out of a table this wide; name fewer columns in `columns`.';

export function notesOf(profile: Profile, detail: Detail): string[] {
  const left = profile.correlations.length - detail.correlations;
  const hidden = left > 0 ? [`${count(left)} weaker correlations are not shown.`] : [];
  const dropped = detail.intervals ? [] : [TOO_WIDE];
  return [...profile.notes, ...hidden, ...dropped];
}
