import { ToolError } from 'mcp-task-server/tool';
import { type Corpus, ranked, tally } from './corpus.ts';
import { termsOf } from './terms.ts';

export interface Aspect {
  readonly name: string;
  /** The term that leads it. */
  readonly lead: string;
}

export interface Survey {
  /** What the topic is looked for by. */
  readonly topic: readonly string[];
  /** Entries on the topic, by their place in the corpus. */
  readonly entries: readonly number[];
  readonly aspects: readonly Aspect[];
}

const ASPECTS_PER_DEPTH = 2;
const LEAST_ENTRIES = 5;
/** Two terms that share so much of their entries are one aspect. */
const SAME = 0.4;
const COMPANIONS = 2;
const NOWHERE: ReadonlySet<number> = new Set();

/** Where the topic is written about, and what it is written about with. */
export function survey({ entries, spread }: Corpus, asked: string, depth: number): Survey {
  const topic = [...new Set(termsOf(asked))].filter((term) => spread.has(term));
  if (topic.length === 0) throw new ToolError(`The journal has no word on "${asked}". Try storm, ice, wreck or birds.`);
  const found = [...entries.keys()].filter((index) => topic.some((term) => entries[index]?.terms.has(term)));
  const inside = tally(found.flatMap((index) => [...(entries[index]?.terms ?? [])]));
  const candidates = [...inside]
    .filter(([term, count]) => count >= LEAST_ENTRIES && count < found.length && !topic.includes(term))
    .map(([term, count]) => [term, keyness(count, found.length, spread.get(term) ?? count, entries.length)] as const)
    .filter(([, score]) => score > 0);
  const where = new Map(
    candidates.map(([term]) => [term, new Set(found.filter((index) => entries[index]?.terms.has(term)))]),
  );
  const aspects = aspectsOf(ranked(candidates), where, ASPECTS_PER_DEPTH * (depth + 1));
  if (aspects.length === 0) throw new ToolError(`The journal has too little on "${asked}", or it is in every entry.`);
  return { topic, entries: found, aspects };
}

/** How surely a term belongs to some entries rather than to all: Dunning's log-likelihood, 0 if it is rarer there. */
export function keyness(inside: number, entriesInside: number, everywhere: number, entries: number): number {
  const outside = everywhere - inside;
  const share = everywhere / entries;
  if (inside / entriesInside <= share) return 0;
  const part = (seen: number, expected: number): number => (seen === 0 ? 0 : seen * Math.log(seen / expected));
  return 2 * (part(inside, entriesInside * share) + part(outside, (entries - entriesInside) * share));
}

function aspectsOf(terms: readonly string[], where: ReadonlyMap<string, ReadonlySet<number>>, most: number): Aspect[] {
  const overlap = (a: string, b: string): number => {
    const [one, other] = [where.get(a) ?? NOWHERE, where.get(b) ?? NOWHERE];
    const shared = [...one].filter((entry) => other.has(entry)).length;
    return shared / (one.size + other.size - shared);
  };
  const leads: string[] = [];
  for (const term of terms) {
    if (leads.length < most && leads.every((lead) => overlap(lead, term) < SAME)) leads.push(term);
  }
  return leads.map((lead) => {
    const others = terms.filter((term) => !leads.includes(term)).map((term) => [term, overlap(lead, term)] as const);
    return { lead, name: [lead, ...ranked(others).slice(0, COMPANIONS)].join(', ') };
  });
}
