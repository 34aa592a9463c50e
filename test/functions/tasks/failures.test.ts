import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { rerunRefusal } from '../../../functions/operator/acts/rerun.ts';
import type { ToolFacts } from '../../../functions/operator/context.ts';
import { FAILURES, type FailureReason, failure, RUN_FAILURES, runFailure } from '../../../functions/tasks/failures.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import { fail } from '../../../functions/tasks/transitions/end.ts';

const ROOT = join(import.meta.dirname, '../../..');
const REASONS = Object.keys(FAILURES) as FailureReason[];
const task = { tool: 'x', ttl: 3_600_000, timeout: 60_000, accepts: [], legacy: false };
const tool: ToolFacts = { engine: 'standard', repeatable: false, timeout: 60_000 };
const created = create({ owner: 'o', taskId: 'a' }, task, 1);

test('each failure has a row of explain that names its row of the crash table', () => {
  const pages = readFileSync(join(ROOT, 'docs/crash-table.md'), 'utf8');
  for (const reason of REASONS) {
    const [row = ''] = FAILURES[reason].row.split('–');
    expect(/^\d+$/.test(row) ? pages.includes(`| ${row} |`) : pages.includes(row), reason).toBe(true);
  }
});

test('only a failed start under a key is run again without force, if its tool does not repeat', () => {
  const free = REASONS.filter((reason) => {
    const record: TaskRecord = { ...created, digest: 'd', ...fail(failure(reason), 2).set };
    return rerunRefusal(record, tool, undefined) === undefined;
  });
  expect(free).toEqual(['NotStarted']);
});

test('the name of the error of a run decides on its failure', () => {
  for (const [name, reason] of Object.entries(RUN_FAILURES)) expect(runFailure(name).reason).toBe(reason);
  expect(
    ['Runtime.ExitError', 'Lambda.Unknown', 'Lambda', 'TypeError', '__proto__'].map((name) => runFailure(name).reason),
  ).toEqual(['Crashed', 'Crashed', 'ToolFailed', 'ToolFailed', 'ToolFailed']);
});
