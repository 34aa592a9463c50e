import { describe, expect, test } from 'vitest';
import { decide } from '../../../functions/reconciler/decide.ts';
import type { Execution } from '../../../functions/reconciler/describe.ts';
import { reconcile, reconcileEnded } from '../../../functions/reconciler/reconcile.ts';
import { sweep } from '../../../functions/reconciler/sweep.ts';
import { limits } from '../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { executionArn } from '../../support/engine/memory.ts';
import { applied } from '../tasks/applied.ts';
import { END, fakeContext, key, MINUTE, record, T0 } from './fake-context.ts';

/** Its run is stopped, or has ended. */
const { due: _due, dueAt: _dueAt, ...ended } = record({ status: 'cancelled' });

describe('a task that ended before its run', () => {
  const cancelled = () => record({ status: 'cancelled', dueAt: T0 + MINUTE });

  test.each<[string, Exclude<Execution['status'], 'missing'> | undefined]>([
    ['runs', 'RUNNING'],
    ['has ended', 'SUCCEEDED'],
    ['never began', undefined],
  ])('has a run that %s: one stop, and no sweep meets it again (row 15)', async (_title, status) => {
    const { context, records, executions, did } = fakeContext([cancelled()]);
    if (status) executions.put(executionArn('t', 1), { status });
    expect(await reconcile(key, false, context)).toBe('stop');
    expect(await reconcile(key, true, context)).toBe('not_stopped');
    expect(did).toEqual(['get', 'get', 'stop', 'applyBlind']);
    if (status === 'RUNNING') expect(executions.get(executionArn('t', 1))?.status).toBe('ABORTED');
    expect(records.get('t')).toEqual(ended);
    expect(await reconcile(key, true, context)).toBe('nothing');
  });

  test('is stopped by a later sweep, if Step Functions has no room for the stop (row 15)', async () => {
    const { context, records, clock } = fakeContext([cancelled()]);
    const { stop } = context.workflow;
    context.workflow.stop = () => Promise.reject(Object.assign(new Error('full'), { name: 'ThrottlingException' }));
    expect(await reconcile(key, true, context)).toBe('left');
    expect(records.get('t')).toMatchObject({ status: 'cancelled', dueAt: clock.now + MINUTE / 2 });
    context.workflow.stop = stop;
    expect(await reconcile(key, true, context)).toBe('nothing');
    clock.now += MINUTE;
    expect(await reconcile(key, true, context)).toBe('not_stopped');
    expect(records.get('t')).toEqual(ended);
  });

  test.each([
    ['has ended', 'ABORTED', 'not_stopped'],
    ['runs', 'RUNNING', undefined],
  ] as const)('counts by its run where a stop fails otherwise: it %s (row 15)', async (_title, status, done) => {
    const { context, records, executions, clock } = fakeContext([cancelled()]);
    executions.put(executionArn('t', 1), { status });
    context.workflow.stop = () => Promise.reject(new Error('refused'));
    const reconciled = reconcile(key, true, context);
    if (done === undefined) await expect(reconciled).rejects.toThrow('refused');
    else expect(await reconciled).toBe(done);
    const due = { dueAt: clock.now + MINUTE / 2 };
    expect(records.get('t')).toEqual(done === undefined ? { ...cancelled(), ...due } : ended);
  });

  test('needs no stop once its run has ended (row 15)', async () => {
    const { context, records, did } = fakeContext([record({ status: 'cancelled', dueAt: END })]);
    const aborted = { status: 'ABORTED' } as const;
    expect(await reconcileEnded(key, executionArn('t', 1), aborted, context)).toBe('not_stopped');
    expect(did).toEqual(['get', 'applyBlind']);
    expect(records.get('t')).toEqual(ended);
  });

  test('and moved to Express has a run that cannot be stopped', async () => {
    const { context, records, did } = fakeContext([{ ...cancelled(), engine: 'express' }]);
    expect(await reconcile(key, true, context)).toBe('not_stopped');
    expect(did).toEqual(['get', 'applyBlind']);
    expect(records.get('t')).toEqual({ ...ended, engine: 'express' });
  });

  test.each([
    ['when it is due', T0 + MINUTE, undefined, 'not_stopped'],
    ['not before', T0 + MINUTE - 1, undefined, 'nothing'],
    ['not before, while it runs', T0 + MINUTE - 1, 'RUNNING', 'nothing'],
    ['not before, while there is none', T0 + MINUTE - 1, 'missing', 'nothing'],
    ['at once, when it is over', T0 + MINUTE - 1, 'ABORTED', 'not_stopped'],
  ] as const)('needs no more stops %s (row 15)', (_title, now, status, kind) => {
    const cancelled = record({ status: 'cancelled', dueAt: T0 + MINUTE });
    const decision = decide(cancelled, now, status && { status });
    expect(decision.kind).toBe(kind);
    if ('change' in decision) expect(applied(cancelled, decision.change)).toEqual(ended);
  });
});

describe('a sweep (row 15)', () => {
  const over = { status: 'cancelled', dueAt: T0 } as const;
  const named = (name: string, count: number, more: Partial<TaskRecord> = {}) =>
    Array.from({ length: count }, (_, i) =>
      record({ taskId: `${name}${i}`, due: String(i % limits.dueShards), ...more }),
    );

  test('with no room for a stop, it goes on with the runs and the other stops (row 15)', async () => {
    const fake = fakeContext([...named('t', 20), ...named('over', 20, over)]);
    for (let i = 0; i < 20; i++) fake.executions.put(executionArn(`t${i}`, 1), { status: 'RUNNING' });
    let asked = 0;
    const stop = async (): Promise<never> => {
      asked++;
      throw Object.assign(new Error(), { name: 'ThrottlingException' });
    };
    const workflow = { ...fake.context.workflow, stop };
    const report = await sweep(fake.clock.now + 50_000, { ...fake.context, workflow });
    expect(asked).toBe(20);
    expect(report).toMatchObject({ complete: true, due: 20, left: 20, errors: {} });
    expect(fake.records.all().filter(({ seenRound }) => seenRound === 1)).toHaveLength(20);
  });

  test('stops the runs of tasks that have ended at the pace of its checks (row 15)', async () => {
    const fake = fakeContext(named('over', 40, over));
    const started = fake.clock.now;
    const stops: number[] = [];
    const stop = async () => void stops.push(fake.clock.now - started);
    const workflow = { ...fake.context.workflow, stop };
    const report = await sweep(started + 50_000, { ...fake.context, workflow });
    expect(report).toMatchObject({ due: 40, left: 0, repaired: { not_stopped: 40 } });
    expect(stops.filter((at) => at < 1_000)).toHaveLength(limits.sweepChecks);
  });
});
