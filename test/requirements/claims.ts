import { readFileSync } from 'node:fs';
import { type Scenario, scenarios } from '../conformance/scenarios.ts';
import { byScenario } from './by-scenario.ts';
import { idsIn } from './ids.ts';
import { listTitles, surelyRuns, type Title } from './titles.ts';

/** A claim that a test or scenario proves a requirement. */
export interface Claim {
  readonly id: string;
  readonly source: string;
  /** False for a proof that does not run, or may fail unnoticed. */
  readonly proves: boolean;
}

/** The claims of all tests of the product. Tests of `local` prove nothing of the protocol. */
export function readClaims(): readonly Claim[] {
  const titles = listTitles().filter(({ file }) => file.startsWith('test/'));
  return [...claimsOfTests(titles, (file) => readFileSync(file, 'utf8')), ...claimsOfScenarios(scenarios)];
}

/** @param sourceOf the text of a file: a test that may not run proves nothing */
export const claimsOfTests = (titles: readonly Title[], sourceOf: (file: string) => string): readonly Claim[] =>
  titles.flatMap(({ parts, file, line }) => {
    const ids = idsIn(parts.join(' '));
    if (ids.length === 0) return [];
    const proves = surelyRuns(sourceOf(file));
    return ids.map((id) => ({ id, source: `${file}:${line}`, proves }));
  });

/** Throws when the suite and the table of what its scenarios prove do not name the same scenarios. */
export function claimsOfScenarios(
  suite: readonly Scenario[],
  proven: Readonly<Record<string, readonly string[]>> = byScenario,
): readonly Claim[] {
  const stray = Object.keys(proven).find((name) => !suite.some((scenario) => scenario.name === name));
  if (stray !== undefined) throw new Error(`by-scenario.ts names ${stray}, which is not a scenario of the suite`);
  return suite.flatMap((scenario) => {
    const ids = proven[scenario.name];
    if (ids === undefined) throw new Error(`by-scenario.ts does not say what ${scenario.name} proves`);
    return ids.map((id) => ({ id, source: `conformance ${scenario.name}`, proves: gates(scenario) }));
  });
}

/** A scenario that is not part of a plain `npm run proof -- conformance`, or has nothing to check, proves nothing. */
const gates = ({ idle, baseline }: Scenario): boolean =>
  idle === undefined && (baseline === undefined || baseline.checks !== undefined);
