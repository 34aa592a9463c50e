import { cpus, totalmem } from 'node:os';
import type { Arm, Row } from './row.ts';

const BEGIN = '<!-- written by npm run bench -->';
const END = '<!-- end -->';

export interface Result {
  readonly arm: Arm;
  readonly rows: readonly Row[] | { readonly skipped: string };
}

/** Which machine, and what on it. */
export function machine(commit: string): string {
  const [cpu] = cpus();
  return (
    `Measured on ${new Date().toISOString().slice(0, 10)}, at commit \`${commit}\`, on ${cpus().length} cores ` +
    `(${cpu?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GB of memory, ${process.platform} ${process.arch}, Node ${process.versions.node}.`
  );
}

export function markdown(results: readonly Result[]): string {
  return results
    .map(({ arm, rows }) => {
      const body = 'skipped' in rows ? `Not measured: ${rows.skipped}.` : table(rows);
      return `### ${arm.title}\n\n${wrapped(arm.about)}\n\n${body}`;
    })
    .join('\n\n');
}

/** In lines that fit on a page. */
const wrapped = (text: string): string => text.replace(/(?=.{121})(.{1,120}) /g, '$1\n');

/** Replaces the text that the last run has written into the page. */
export function replaced(page: string, text: string): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`the page has no ${BEGIN} … ${END}`);
  return `${page.slice(0, begin + BEGIN.length)}\n\n${text}\n\n${page.slice(end)}`;
}

function table(rows: readonly Row[]): string {
  const lines = rows.map(({ what, measured, ratio }) => {
    const cells = ratio
      ? [`**${digits(ratio.median)}** × ${ratio.to}`, `${digits(ratio.low)} to ${digits(ratio.high)}`, ratio.pairs]
      : ['', '', ''];
    return `| ${[what, measured, ...cells].join(' | ')} |`;
  });
  return ['| what | measured | ratio | 10 % to 90 % | pairs |', '| --- | --- | --- | --- | --- |', ...lines].join('\n');
}

/** Two digits that count. */
export function digits(value: number): string {
  if (!Number.isFinite(value)) return '–';
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(value >= 10 ? 3 : 2)));
}
