import { describe, expect, test } from 'vitest';
import { reconcile } from '../../../functions/reconciler/reconcile.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { executionArn, Killed } from '../../support/engine/memory.ts';
import { answered, END, fakeContext, key, MINUTE, record, T0, waiting } from './fake-context.ts';

describe('another write in between', () => {
  const between = (change: Partial<TaskRecord>) => {
    const fake = fakeContext([record()]);
    const describe = async () => {
      fake.records.set(record(change));
      return { status: 'missing' } as const;
    };
    return { ...fake, context: { ...fake.context, describe } };
  };

  test.each<[string, Partial<TaskRecord>]>([
    ['a finish (row 12)', { status: 'completed', result: '1' }],
    ['a cancel (row 14)', { status: 'cancelled' }],
    ['a question', { status: 'input_required' }],
    ['another round (row 16)', { round: 2 }],
  ])('%s wins: nothing is written, and nothing stopped', async (_title, change) => {
    const { context, records, did } = between(change);
    expect(await reconcile(key, true, context)).toBe('nothing');
    expect(did).toEqual(['get', 'applyBlind']);
    expect(records.get('t')).toEqual(record(change));
  });

  test('a cancel that found no run: the run that starts after it is stopped (rows 14, 16)', async () => {
    const { context, records, executions, did } = fakeContext([answered()]);
    const { describe } = context;
    const cancelled = async (arn: string) => {
      const run = await describe(arn);
      records.set(answered({ status: 'cancelled' }));
      return run;
    };
    expect(await reconcile(key, true, { ...context, describe: cancelled })).toBe('nothing');
    expect(did).toEqual(['get', 'describe', 'start', 'applyBlind', 'stop']);
    expect(executions.get(executionArn('t', 2))?.status).toBe('ABORTED');
    expect(records.get('t')?.status).toBe('cancelled');
  });

  test('two reconcilers at once do it once', async () => {
    for (const task of [record(), answered()]) {
      const { context, records, executions } = fakeContext([task]);
      await Promise.all([reconcile(key, true, context), reconcile(key, true, context), reconcile(key, true, context)]);
      expect(records.get('t')?.status).toBe(task.round === 1 ? 'failed' : 'working');
      expect(executions.all()).toHaveLength(task.round - 1);
    }
  });
});

describe('killed at any call, before or after it, the next sweeps end where an undisturbed one ends', () => {
  const cases: [string, TaskRecord, number][] = [
    ['never started (row 4)', record(), T0 + MINUTE],
    ['answered, not started again (row 16)', answered(), T0 + MINUTE],
    ['overdue (row 13)', record(), END + 1],
    ['not answered (row 17)', waiting(), END],
  ];

  async function settle(task: TaskRecord, now: number, kill: { at?: number; after?: number }) {
    const fake = fakeContext([task]);
    if (now > END) fake.executions.put(executionArn('t', 1), { status: 'RUNNING' });
    fake.clock.now = now;
    Object.assign(fake.kill, kill);
    for (let sweep = 0; sweep < 4; sweep++) {
      await reconcile(key, true, fake.context).catch((error: unknown) => {
        if (!(error instanceof Killed)) throw error;
      });
      // A stop that was not noted is made again a minute later.
      if (sweep === 1) fake.clock.now += MINUTE;
    }
    // A sweep that is killed before its last write adds no event.
    const { dueAt: _, seenRound: __, events: ___, ...shown } = fake.records.get('t') ?? {};
    const started = fake.did.filter((name) => name === 'start').length;
    return { shown, runs: fake.executions.all().map(({ arn }) => arn), started };
  }

  test.each(cases)('%s', async (_title, task, now) => {
    const right = await settle(task, now, {});
    for (let call = 1; call <= 5; call++) {
      for (const kill of [{ at: call }, { after: call }]) {
        const killed = await settle(task, now, kill);
        expect(killed.shown, JSON.stringify(kill)).toEqual(right.shown);
        expect(killed.runs).toEqual(right.runs);
      }
    }
  });
});
