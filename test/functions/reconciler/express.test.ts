import { expect, test } from 'vitest';
import { decideExpress } from '../../../functions/reconciler/decide-express.ts';
import { reconcile } from '../../../functions/reconciler/reconcile.ts';
import { limits } from '../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { create } from '../../../functions/tasks/transitions.ts';
import { answered, END, executionArn, fakeContext, key, MINUTE, record, T0 } from './fake-context.ts';

const express = (over: Partial<TaskRecord> = {}) => record({ express: true, arguments: '{"n":1}', ...over });
const waits = (over: Partial<TaskRecord> = {}) => express({ seenRound: 1, dueAt: T0 + 6 * MINUTE, ...over });

test('at its first check the sweep comes back once the run is surely over: 5 minutes later', async () => {
  const { context, records, did } = fakeContext([express()]);
  expect(await reconcile(key, false, context)).toBe('postponed');
  expect(did).toEqual(['get', 'write']);
  expect(records.get('t')).toEqual(waits());
  expect(decideExpress(waits(), T0 + 6 * MINUTE - 1)).toEqual({ kind: 'nothing' });
});

test('then its round starts again, the first one as well, and nothing is asked (rows 4, 11, 13)', async () => {
  const { context, records, runs, did, clock } = fakeContext([waits()]);
  clock.now = T0 + 6 * MINUTE;
  expect(await reconcile(key, false, context)).toBe('run_lost');
  expect(did).toEqual(['get', 'start', 'write']);
  expect(JSON.parse(runs.get(executionArn('t', 1))?.input ?? '')).toMatchObject({ round: 1, arguments: '{"n":1}' });
  expect(records.get('t')).toMatchObject({
    // Not later than the moment by which the sweep has to write the failure.
    dueAt: Math.min(END, clock.now + limits.express.dead),
    events: [{}, { at: clock.now, what: 'restarted' }],
  });
});

test('a later round has its own first check (row 16)', () => {
  const next = answered({ express: true, seenRound: 1 });
  expect(decideExpress(next, T0 + MINUTE)).toMatchObject({ kind: 'postponed', change: { set: { seenRound: 2 } } });
});

test('near its deadline nothing starts, and after it the task fails; no run is stopped (row 13)', () => {
  const { deadlineAt } = express();
  const late = waits({ dueAt: deadlineAt - 1 });
  expect(decideExpress(late, deadlineAt - 1)).toMatchObject({ kind: 'run_lost' });
  expect(decideExpress(late, deadlineAt)).toEqual({ kind: 'nothing' });
  expect(decideExpress(late, END + 1)).toEqual({ kind: 'overdue', change: expect.anything() });
  expect(decideExpress(express(), deadlineAt - 1).kind).toBe('postponed');
});

test('a crash between start and write starts it again: at least once, and no end is lost', async () => {
  const { context, records, did, clock, kill } = fakeContext([waits()]);
  clock.now = T0 + 6 * MINUTE;
  kill.after = 2;
  await expect(reconcile(key, false, context)).rejects.toThrow();
  expect(records.get('t')).toEqual(waits());
  expect(await reconcile(key, false, context)).toBe('run_lost');
  expect(did).toEqual(['get', 'start', 'get', 'start', 'write']);
});

test('a task that began before its tool had this engine is not described, and waits (row 23)', async () => {
  const { context, records, did, clock } = fakeContext([record()], { express: new Set(['x']) });
  expect(await reconcile(key, true, context)).toBe('postponed');
  clock.now = T0 + 6 * MINUTE;
  // Its record has no arguments to start it with.
  expect(await reconcile(key, true, context)).toBe('postponed');
  expect(did).toEqual(['get', 'write', 'get', 'write']);
  expect(records.get('t')).toMatchObject({ status: 'working', dueAt: Math.min(END, clock.now + limits.unknownTool) });
});

test('a task that began on Express is not described after its tool has left it (row 23)', async () => {
  const { context, did } = fakeContext([express()]);
  await reconcile(key, true, context);
  expect(did).not.toContain('describe');
});

test('each start of a round has ended before its first check: its run is over 5 minutes later', () => {
  const attempts = 20_000;
  expect(limits.startWithin + attempts).toBeLessThan(limits.firstDue);
  expect(limits.express.dead).toBeGreaterThan(limits.express.longest + attempts);
  const task = { tool: 'x', ttl: 1, timeout: 1, accepts: [], legacy: false, express: true };
  expect(create({ owner: 'o', taskId: 't' }, task, T0)).toMatchObject({ express: true, dueAt: T0 + limits.firstDue });
});
