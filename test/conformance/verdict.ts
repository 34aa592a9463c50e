import type { Revision, Scenario } from './scenarios.ts';

/** One entry of the runner's checks.json. */
export interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly description: string;
  readonly errorMessage?: string;
}

/** The files of one call of the runner. */
export interface Outcome {
  readonly scenario: Scenario;
  readonly revision: Revision | undefined;
  /** Undefined when the runner wrote no results: it refused the scenario, skipped it or died. */
  readonly checks: readonly Check[] | undefined;
  readonly exitCode: number | null;
  readonly output: string;
}

export type Verdict = 'passed' | 'known failure' | 'idle' | 'FAILED' | 'NOT EXECUTED' | 'STALE BASELINE' | 'STALE IDLE';

const acceptable: ReadonlySet<Verdict> = new Set(['passed', 'known failure', 'idle']);

export const isAcceptable = (outcome: Outcome): boolean => acceptable.has(judge(outcome));

export const withStatus = (outcome: Outcome, status: Check['status']): readonly Check[] =>
  (outcome.checks ?? []).filter((check) => check.status === status);

/** The runner exits 0 when it skips a scenario, so its exit code alone would let a silent green through. */
export function judge(outcome: Outcome): Verdict {
  const { scenario, exitCode } = outcome;
  const failures = withStatus(outcome, 'FAILURE');
  if (failures.length > 0) return failures.every((check) => isKnown(scenario, check)) ? 'known failure' : 'FAILED';
  if (exitCode !== 0) return 'FAILED';
  if (scenario.baseline !== undefined) return 'STALE BASELINE';
  if (executed(outcome) === 0) return scenario.idle === undefined ? 'NOT EXECUTED' : 'idle';
  return scenario.idle === undefined ? 'passed' : 'STALE IDLE';
}

/** The schema check runs with every connection, so alone it says nothing about the scenario. */
function executed(outcome: Outcome): number {
  const ran = ['SUCCESS', 'FAILURE', 'WARNING'];
  return (outcome.checks ?? []).filter(({ id, status }) => id !== 'wire-schema-valid' && ran.includes(status)).length;
}

function isKnown({ name, baseline }: Scenario, check: Check): boolean {
  return baseline !== undefined && (baseline.checks ?? [name]).includes(check.id);
}
