import type { Claim } from './claims.ts';
import { type Requirement, SECTIONS, type Weight } from './table.ts';

export interface Tally {
  readonly total: number;
  readonly proven: number;
  /** Rows without a proof, but with a reason in unprovable.ts. */
  readonly excused: number;
}

export interface Coverage {
  readonly sections: readonly SectionCoverage[];
  readonly whole: Readonly<Record<Weight, Tally>>;
  /** Rows of the sections without a proof, counted ones and others. */
  readonly missing: readonly Missing[];
  readonly excused: readonly Excuse[];
  /** Problems that make the run fail with any numbers. */
  readonly mistakes: readonly string[];
  readonly complete: boolean;
}

export interface SectionCoverage {
  readonly name: string;
  readonly tallies: Readonly<Record<Weight, Tally>>;
}

export interface Missing {
  readonly requirement: Requirement;
  /** The proof, if it ran. */
  readonly sources: readonly string[];
}

export interface Excuse {
  readonly requirement: Requirement;
  readonly reason: string;
}

/** The parts of all rows of their kind that must be accounted for, or may be excused. */
const MUST = 1;
const SHOULD = 0.95;
const EXCUSED = 0.05;

export function cover(
  table: readonly Requirement[],
  claims: readonly Claim[],
  unprovable: Readonly<Record<string, string>>,
): Coverage {
  const rows = table.filter(({ section }) => SECTIONS.some((name) => name === section));
  const proven = new Set(claims.filter(({ proves }) => proves).map(({ id }) => id));
  const isExcused = ({ id }: Requirement) => !proven.has(id) && id in unprovable;
  const tally = (of: readonly Requirement[], weight: Weight): Tally => {
    const counted = of.filter((row) => row.weight === weight);
    const count = (test: (row: Requirement) => boolean) => counted.filter(test).length;
    return { total: counted.length, proven: count(({ id }) => proven.has(id)), excused: count(isExcused) };
  };
  const tallies = (of: readonly Requirement[]) => ({ MUST: tally(of, 'MUST'), SHOULD: tally(of, 'SHOULD') });
  const whole = tallies(rows);
  const mistakes = [...unknownIds(table, claims), ...unfitExcuses(rows, claims, unprovable)];
  return {
    sections: SECTIONS.map((name) => ({ name, tallies: tallies(rows.filter(({ section }) => section === name)) })),
    whole,
    missing: rows
      .filter((row) => !proven.has(row.id) && !isExcused(row))
      .map((requirement) => ({ requirement, sources: sourcesOf(claims, requirement) })),
    excused: rows.filter(isExcused).map((requirement) => ({ requirement, reason: unprovable[requirement.id] ?? '' })),
    mistakes,
    complete: mistakes.length === 0 && accounted(whole.MUST) >= MUST && accounted(whole.SHOULD) >= SHOULD,
  };
}

const accounted = ({ total, proven, excused }: Tally): number => (total === 0 ? 1 : (proven + excused) / total);

const sourcesOf = (claims: readonly Claim[], { id }: Requirement): readonly string[] =>
  claims.filter((claim) => claim.id === id).map(({ source }) => source);

function unknownIds(table: readonly Requirement[], claims: readonly Claim[]): readonly string[] {
  const known = new Set(table.map(({ id }) => id));
  return claims.filter(({ id }) => !known.has(id)).map(({ id, source }) => `${id} is not a requirement: ${source}`);
}

/** An excuse must be for a row that counts and that nothing proves, and there must be few of them. */
function unfitExcuses(
  rows: readonly Requirement[],
  claims: readonly Claim[],
  unprovable: Readonly<Record<string, string>>,
): readonly string[] {
  const ids = Object.keys(unprovable);
  const counted = rows.filter(({ weight }) => weight !== undefined);
  const proof = (id: string) => claims.find((claim) => claim.proves && claim.id === id);
  const stray = ids.filter((id) => !counted.some((row) => row.id === id));
  const proven = ids.flatMap((id) => proof(id) ?? []);
  const limit = Math.floor(counted.length * EXCUSED);
  return [
    ...stray.map((id) => `unprovable.ts excuses ${id}, which is not a row that counts`),
    ...proven.map(({ id, source }) => `unprovable.ts excuses ${id}, but ${source} proves it`),
    ...(ids.length > limit ? [`unprovable.ts excuses ${ids.length} rows; ${limit} are allowed`] : []),
  ];
}
