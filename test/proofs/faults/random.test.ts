import { expect, test } from 'vitest';
import { useAssembly } from '../../support/cloud.ts';
import { planOf } from './random/plan.ts';
import { explain, runSchedules } from './random/schedules.ts';
import { useExpress } from './use-express.ts';

/** A small share of `npm run proof -- faults`, which runs 2,000 schedules. */
const app = useAssembly('test/proofs/faults/random/app.ts', { MCP_TEST_BRIEF: '1' });
const express = useAssembly('test/proofs/faults/random/app.ts', { MCP_TEST_BRIEF: '1', MCP_TEST_ENGINE: 'express' });

test('the same seed is the same plan, another one another', () => {
  expect(planOf(7)).toEqual(planOf(7));
  expect(planOf(7)).not.toEqual({ ...planOf(8), seed: 7 });
});

test('random faults: no task is lost, stuck, overwritten or run twice without leave', async () => {
  const failed: string[] = [];
  let strikes = 0;
  for await (const outcome of runSchedules(app, [2, 4, 5])) {
    strikes += outcome.strikes.length;
    if (outcome.violations.length > 0) failed.push(explain(outcome));
  }
  expect(failed.join('\n')).toBe('');
  expect(strikes).toBeGreaterThan(20);
});

test('on Express, no task is lost, stuck or overwritten, and what was lost is started again', async () => {
  useExpress();
  const failed: string[] = [];
  let lost = 0;
  for await (const outcome of runSchedules(express, [3, 9, 2121])) {
    lost += outcome.strikes.filter((strike) => /RunExpress .*: ("?drop|.*killAfterMs)/.test(strike)).length;
    if (outcome.violations.length > 0) failed.push(explain(outcome));
  }
  expect(failed.join('\n')).toBe('');
  expect(lost).toBeGreaterThan(0);
});
