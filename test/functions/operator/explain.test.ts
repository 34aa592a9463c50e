import { expect, test } from 'vitest';
import type { TaskFacts } from '../../../functions/operator/explain/facts.ts';
import { ROWS } from '../../../functions/operator/explain/rows.ts';
import type { TaskEvent, TaskRecord } from '../../../functions/tasks/record.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';

const task = { tool: 'x', ttl: 3_600_000, timeout: 60_000, accepts: [], legacy: false };
const ann = { who: 'ann', reason: 'INC-7' };
const record = (more: Partial<TaskRecord>): TaskRecord => ({
  ...create({ owner: 'o', taskId: 'a' }, task, 1),
  ...more,
});

/** What `explain` says of a record. */
const because = (seen: TaskRecord, tool?: TaskFacts['tool']) => {
  const facts = { record: seen, seen, now: 9, run: undefined, tool, reason: undefined, misfit: undefined };
  return ROWS.find(({ fits }) => fits(facts))?.why(facts);
};

test('explain names who cancelled, not who answered before', () => {
  const before = [{ at: 2, what: 'answered', by: 'operator', ...ann }] as const;
  const cancelled = (by: Partial<TaskEvent>) =>
    because(record({ status: 'cancelled', events: [...before, { at: 3, what: 'cancelled', ...by }] }));
  expect(cancelled({ by: 'endpoint' })).toEqual(['It was cancelled by its client.']);
  expect(cancelled({ by: 'operator', who: 'ben', reason: 'late' })).toEqual(['It was cancelled by ben: “late”.']);
});

test('explain says of a task that asks whether answers of this round were refused', () => {
  const asking = (round: number) =>
    because(record({ status: 'input_required', round, events: [{ at: 1, what: 'refused' }] }));
  expect(asking(1)).toContain('The client has sent answers that are not valid.');
  expect(asking(2)).not.toContain('The client has sent answers that are not valid.');
});

test('explain promises no start to a task that began on Standard, before its tool was on Express', () => {
  const machineArn = 'arn:aws:states:us-east-1:1:stateMachine:x';
  const tool = { machineArn, express: true, repeatable: true, timeout: 60_000 };
  const told = (more: Partial<TaskRecord>) => because(record(more), tool)?.join(' ');
  expect(told({})).toContain('Nothing starts it again');
  expect(told({ round: 2, seenRound: 2 })).toContain('Nothing starts it again');
  expect(told({ round: 2, seenRound: 1 })).toContain('the sweep starts it on Express');
  expect(told({ express: true })).toContain('A run that dies is started again within 8 minutes');
  const onceOnly = { ...tool, express: false, repeatable: false };
  expect(because(record({ express: true }), onceOnly)?.join(' ')).toContain('If its run dies, the task fails');
});

test('explain says whether the tool returned an error result, or its arguments were refused', () => {
  const ended = (startedAt?: number) => {
    const events = [{ at: 1, what: 'completed', ...(startedAt !== undefined && { startedAt }) }] as const;
    const seen = record({ status: 'completed', isError: true, events });
    const status: 'missing' | 'SUCCEEDED' = startedAt === undefined ? 'missing' : 'SUCCEEDED';
    const run = { round: 1, executionArn: 'arn', status, failures: [] };
    const facts = { record: seen, seen, now: 9, run, tool: undefined, reason: undefined, misfit: undefined };
    const row = ROWS.find(({ fits }) => fits(facts));
    return [row?.name, ...(row?.why(facts) ?? [])];
  };
  expect(ended(1)).toEqual(['its result is an error', expect.stringContaining('Its tool returned an error')]);
  expect(ended()).toEqual(['its result is an error', 'Its arguments were refused before its tool ran.']);
});

test('explain says that states are not known, if the credentials may not read them', () => {
  const run = { round: 1, executionArn: 'arn', status: 'RUNNING' as const, failures: [] };
  const tool = { machineArn: 'arn', stateMachineArn: 'arn', repeatable: false, timeout: 1 };
  const seen = record({});
  const facts = { record: seen, seen, now: 9, run, tool, reason: undefined, misfit: undefined };
  const why = ROWS.find(({ fits }) => fits(facts))?.why(facts) ?? [];
  expect(why).toEqual([
    'Its run works, without a failure so far.',
    expect.stringContaining('your credentials may not'),
  ]);
});
