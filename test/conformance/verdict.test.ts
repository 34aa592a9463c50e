import { describe, expect, test } from 'vitest';
import { report } from './report.ts';
import type { Scenario } from './scenarios.ts';
import { type Check, isAcceptable, judge, type Outcome, type Verdict } from './verdict.ts';

const plain: Scenario = { name: 'some-scenario', revisions: ['2026-07-28'] };
const baselined: Scenario = { ...plain, baseline: { reason: 'not offered', checks: ['known'] } };
const idle: Scenario = { ...plain, idle: 'nothing to run' };

const check = (id: string, status: Check['status']): Check => ({ id, status, description: `${id} holds` });

function outcome(scenario: Scenario, checks: readonly Check[] | undefined, exitCode = 0): Outcome {
  return { scenario, revision: '2026-07-28', checks, exitCode, output: 'SKIPPED: not applicable\n' };
}

const cases: readonly [string, Verdict, Outcome][] = [
  ['all green', 'passed', outcome(plain, [check('a', 'SUCCESS')])],
  ['only a warning', 'passed', outcome(plain, [check('a', 'WARNING')])],
  ['a failure', 'FAILED', outcome(plain, [check('a', 'SUCCESS'), check('b', 'FAILURE')], 1)],
  ['a runner that died after green checks', 'FAILED', outcome(plain, [check('a', 'SUCCESS')], 1)],
  ['a runner that wrote nothing and exited 0', 'NOT EXECUTED', outcome(plain, undefined)],
  ['no check at all', 'NOT EXECUTED', outcome(plain, [])],
  ['everything skipped', 'NOT EXECUTED', outcome(plain, [check('a', 'SKIPPED'), check('b', 'INFO')])],
  ['the schema check alone', 'NOT EXECUTED', outcome(plain, [check('wire-schema-valid', 'SUCCESS')])],
  ['a listed failure', 'known failure', outcome(baselined, [check('known', 'FAILURE')], 1)],
  ['another failure', 'FAILED', outcome(baselined, [check('known', 'FAILURE'), check('new', 'FAILURE')], 1)],
  ['a listed failure that is gone', 'STALE BASELINE', outcome(baselined, [check('known', 'SUCCESS')])],
  ['listed as idle', 'idle', outcome(idle, [check('a', 'INFO')])],
  ['listed as idle but running', 'STALE IDLE', outcome(idle, [check('a', 'SUCCESS')])],
];

describe('the verdict on a run', () => {
  test.each(cases)('%s: %s', (_, verdict, run) => {
    expect(judge(run)).toBe(verdict);
    expect(isAcceptable(run)).toBe(['passed', 'known failure', 'idle'].includes(verdict));
  });

  test('a baseline without checks covers the check named like its scenario, nothing beside it', () => {
    const scenario = { ...plain, baseline: { reason: 'not offered' } };
    const named = check('some-scenario', 'FAILURE');
    expect(judge(outcome(scenario, [named], 1))).toBe('known failure');
    expect(judge(outcome(scenario, [named, check('wire-schema-valid', 'FAILURE')], 1))).toBe('FAILED');
    expect(judge(outcome(scenario, [check('scenario-timeout', 'FAILURE')], 1))).toBe('FAILED');
  });
});

describe('the report', () => {
  test('counts by status and names what went wrong', () => {
    const failure = { ...check('b', 'FAILURE'), errorMessage: 'expected\n  one thing' };
    const text = report([outcome(plain, [check('a', 'SUCCESS'), failure, check('c', 'SKIPPED')], 1)]);
    expect(text).toMatch(/^some-scenario +2026-07-28 +1 +1 +0 +1 +FAILED$/m);
    expect(text).toContain('FAILURE b: expected one thing');
    expect(text).toContain('1 runs, 1 not acceptable');
  });

  test('quotes the runner when it left no results, and the reason when there is one', () => {
    expect(report([outcome(plain, undefined)])).toContain('SKIPPED: not applicable');
    expect(report([outcome(idle, [])])).toContain('listed because: nothing to run');
  });
});
