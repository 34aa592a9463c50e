import type { Entry } from './corpus.ts';
import type { FORMATS } from './definition.ts';
import { termsOf } from './terms.ts';

export type Format = (typeof FORMATS)[number];

/** One place where a term is written, with what stands around it. */
export interface Line {
  readonly term: string;
  readonly date: string;
  readonly left: string;
  readonly word: string;
  readonly right: string;
}

/** Characters on either side. */
const CONTEXT = 70;

/** Where these entries have the terms, sorted by term and what follows; the most telling terms that fit into `most`. */
export function concordance(entries: readonly Entry[], terms: readonly string[], most: number): Line[] {
  const places = Map.groupBy(
    entries.flatMap((entry) => linesOf(entry, new Set(terms))),
    ({ term }) => term,
  );
  const lines: Line[] = [];
  for (const term of new Set(terms)) {
    const own = places.get(term) ?? [];
    if (lines.length + own.length <= most) lines.push(...own);
  }
  return lines.sort((a, b) => compare(a.term, b.term) || compare(a.right, b.right) || compare(a.date, b.date));
}

function linesOf({ date, text }: Entry, terms: ReadonlySet<string>): Line[] {
  return [...text.matchAll(/[A-Za-z]+/g)].flatMap(({ 0: word, index }) => {
    const [term] = termsOf(word);
    if (term === undefined || !terms.has(term)) return [];
    const end = index + word.length;
    return {
      term,
      date,
      left: text.slice(Math.max(0, index - CONTEXT), index),
      word,
      right: text.slice(end, end + CONTEXT),
    };
  });
}

/** By code units: the same order on every machine. */
const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

const FILES: Readonly<
  Record<Format, readonly [name: string, mimeType: string, write: (lines: readonly Line[]) => string]>
> = {
  csv: ['concordance.csv', 'text/csv', csv],
  markdown: ['concordance.md', 'text/markdown', markdown],
};

/** The concordance as a resource inside the result. */
export function appendix(lines: readonly Line[], format: Format) {
  const [name, mimeType, write] = FILES[format];
  return { type: 'resource', resource: { uri: `journal://${name}`, mimeType, text: write(lines) } };
}

function csv(lines: readonly Line[]): string {
  const quoted = (field: string): string => `"${field.replaceAll('"', '""')}"`;
  const rows = lines.map(({ term, date, left, word, right }) => [term, date, left, word, right].map(quoted).join(','));
  return ['term,date,left,word,right', ...rows].join('\n');
}

function markdown(lines: readonly Line[]): string {
  const sections = [...Map.groupBy(lines, ({ term }) => term)].map(([term, own]) => {
    const items = own.map(
      ({ date, left, word, right }) => `- ${date} ${left.trimStart()}**${word}**${right.trimEnd()}`,
    );
    return [`## ${term} (${own.length})`, '', ...items].join('\n');
  });
  return sections.join('\n\n');
}
