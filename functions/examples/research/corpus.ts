import { termsOf } from './terms.ts';

export interface Entry {
  readonly date: string;
  readonly text: string;
  /** The terms of each sentence, in their order. */
  readonly sentences: readonly (readonly string[])[];
  readonly terms: ReadonlySet<string>;
}

export interface Corpus {
  readonly entries: readonly Entry[];
  /** In how many entries each term is. */
  readonly spread: ReadonlyMap<string, number>;
}

/** One entry a line: the date, in parentheses who wrote it, and what. */
export function readCorpus(text: string): Corpus {
  const entries = text.split('\n').filter(Boolean).map(readEntry);
  return { entries, spread: tally(entries.flatMap(({ terms }) => [...terms])) };
}

function readEntry(line: string): Entry {
  const [, date = '', text = ''] = /^(\S+) \([^)]*\) (.*)$/.exec(line) ?? [];
  const sentences = text.split(/(?<=[.!?]) /).map(termsOf);
  return { date, text, sentences, terms: new Set(sentences.flat()) };
}

/** How often each of them comes. */
export function tally<T>(items: readonly T[]): Map<T, number> {
  const counts = new Map<T, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}

/** By score, highest first; equal ones by name, so that the order never depends on anything else. */
export function ranked(scores: Iterable<readonly [string, number]>): string[] {
  return [...scores].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1)).map(([term]) => term);
}
