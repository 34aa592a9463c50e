import { type Corpus, type Entry, ranked, tally } from './corpus.ts';
import type { Findings } from './definition.ts';
import type { Aspect } from './survey.ts';

const TERMS_PER_DEPTH = 10;
const PAIRED = 15;
const PAIRS_PER_DEPTH = 6;
const QUOTES = 3;
/** Fewer are chance. */
const LEAST_SENTENCES = 3;

/** What the entries on an aspect say: their terms, which of these go together, when, and in whose words. */
export function study(corpus: Corpus, entries: readonly Entry[], { name, lead }: Aspect, depth: number): Findings {
  const counts = tally(entries.flatMap(({ sentences }) => sentences.flat()));
  const weights = new Map([...counts].map(([term, count]) => [term, count * rarity(corpus, term)]));
  const terms = ranked(weights);
  const weigh = ({ sentences, terms: own }: Entry): number =>
    [...own].reduce((sum, term) => sum + (weights.get(term) ?? 0), 0) / Math.sqrt(sentences.flat().length);
  const telling = entries.toSorted((a, b) => weigh(b) - weigh(a) || (a.date < b.date ? -1 : 1)).slice(0, QUOTES);
  return {
    name,
    entries: entries.length,
    terms: terms.slice(0, TERMS_PER_DEPTH * depth).map((term) => {
      return { term, count: counts.get(term) ?? 0, weight: rounded(weights.get(term) ?? 0) };
    }),
    pairs: pairsOf(entries, [lead, ...terms.slice(0, PAIRED)]).slice(0, PAIRS_PER_DEPTH * depth),
    years: [...tally(entries.map(({ date }) => Number(date.slice(0, 4))))].map(([year, count]) => {
      return { year, entries: count };
    }),
    quotes: telling.map(({ date, text }) => ({ date, text })),
  };
}

/** Inverse document frequency: what is in every entry tells nothing about one of them. */
function rarity({ entries, spread }: Corpus, term: string): number {
  return Math.log(entries.length / (spread.get(term) ?? 1));
}

/** Which terms share sentences more often than if they were strewn at random, most surprising first. */
function pairsOf(entries: readonly Entry[], terms: readonly string[]): Findings['pairs'] {
  const sentences = entries.flatMap(({ sentences: all }) => all.map((words) => new Set(words)));
  const single = tally(sentences.flatMap((words) => [...words]));
  const kept = [...new Set(terms)].sort();
  const together = tally(
    sentences.flatMap((words) => {
      const here = kept.filter((term) => words.has(term));
      return here.flatMap((a, index) => here.slice(index + 1).map((b) => `${a} ${b}`));
    }),
  );
  return [...together]
    .filter(([, count]) => count >= LEAST_SENTENCES)
    .map(([pair, count]) => {
      const [a = '', b = ''] = pair.split(' ');
      const expected = ((single.get(a) ?? 0) * (single.get(b) ?? 0)) / sentences.length;
      return { a, b, sentences: count, lift: rounded(count / expected) };
    })
    .sort((one, other) => other.lift - one.lift || other.sentences - one.sentences || (one.a < other.a ? -1 : 1));
}

const rounded = (value: number): number => Math.round(value * 1_000) / 1_000;
