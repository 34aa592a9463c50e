import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Scenario, scenarios } from '../conformance/scenarios.ts';
import { byScenario } from './by-scenario.ts';
import { idsIn } from './ids.ts';
import { titlesIn } from './titles.ts';

/** Somebody says that something proves a requirement. */
export interface Claim {
  readonly id: string;
  readonly source: string;
  /** False for what does not run, or may fail unnoticed. */
  readonly proves: boolean;
}

const TESTS = fileURLToPath(new URL('..', import.meta.url));

export const readClaims = (): readonly Claim[] => [...claimsOfTests(TESTS), ...claimsOfScenarios(scenarios)];

function claimsOfTests(directory: string): readonly Claim[] {
  const files = globSync('**/*.test.ts', { cwd: directory }).sort();
  return files.flatMap((file) => claimsOfTest(`test/${file}`, readFileSync(`${directory}/${file}`, 'utf8')));
}

export const claimsOfTest = (file: string, source: string): readonly Claim[] =>
  titlesIn(source).flatMap(({ text, line, proves }) =>
    idsIn(text).map((id) => ({ id, source: `${file}:${line}`, proves })),
  );

/** Throws when the suite and the table of what its scenarios prove do not name the same scenarios. */
export function claimsOfScenarios(
  suite: readonly Scenario[],
  proven: Readonly<Record<string, readonly string[]>> = byScenario,
): readonly Claim[] {
  const stray = Object.keys(proven).find((name) => !suite.some((scenario) => scenario.name === name));
  if (stray !== undefined) throw new Error(`by-scenario.ts names ${stray}, which is no scenario of the suite`);
  return suite.flatMap((scenario) => {
    const ids = proven[scenario.name];
    if (ids === undefined) throw new Error(`by-scenario.ts does not say what ${scenario.name} proves`);
    return ids.map((id) => ({ id, source: `conformance ${scenario.name}`, proves: gates(scenario) }));
  });
}

/** A scenario that is not part of a plain `npm run proof -- conformance`, or has nothing to check, proves nothing. */
const gates = ({ idle, baseline }: Scenario): boolean =>
  idle === undefined && (baseline === undefined || baseline.checks !== undefined);
