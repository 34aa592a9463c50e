import type { Coverage, Missing, Tally } from './coverage.ts';
import type { Requirement } from './table.ts';

/** All there is to say about a run, paragraph by paragraph. */
export function report(coverage: Coverage): string {
  const excused = coverage.excused.map(({ requirement, reason }) => `${headOf(requirement)}  ${reason}`);
  const verdict = coverage.complete ? 'The requirements are proven' : 'The requirements are NOT proven';
  return join([
    table(coverage),
    paragraph('Not provable on one machine', excused),
    reportMissing(coverage),
    paragraph('Mistakes', coverage.mistakes),
    verdict,
  ]);
}

export function reportMissing({ missing }: Coverage): string {
  const counted = missing.filter(({ requirement }) => requirement.weight !== undefined);
  const others = missing.filter(({ requirement }) => requirement.weight === undefined);
  return join([
    paragraph('Without a test', counted.map(missingLine)),
    paragraph('Without a test, not counted', others.map(missingLine)),
  ]);
}

function missingLine({ requirement, sources }: Missing): string {
  const line = `${headOf(requirement)}  ${shorten(requirement.text)}`;
  return sources.length === 0 ? line : `${line}\n    does not run: ${sources.join(', ')}`;
}

function table({ sections, whole }: Coverage): string {
  const rows = [...sections, { name: 'all', tallies: whole }];
  const line = (...cells: readonly string[]) => cells.map((cell) => cell.padEnd(16)).join('');
  return [
    line('section', 'MUST', 'SHOULD'),
    ...rows.map(({ name, tallies }) => line(name, ratio(tallies.MUST), ratio(tallies.SHOULD))),
  ]
    .map((row) => row.trimEnd())
    .join('\n');
}

function ratio({ total, proven, excused }: Tally): string {
  return `${proven} / ${total}${excused > 0 ? ` (+${excused})` : ''}`;
}

function paragraph(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : [`${title} (${lines.length}):`, ...lines.map((line) => `  ${line}`)].join('\n');
}

const join = (paragraphs: readonly string[]): string => paragraphs.filter((text) => text !== '').join('\n\n');

const headOf = ({ id, level }: Requirement): string => `${id}  ${level.padEnd(10)}`;

const shorten = (text: string): string => (text.length > 100 ? `${text.slice(0, 99).trimEnd()}…` : text);
