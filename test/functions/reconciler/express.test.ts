import { describe, expect, test } from 'vitest';
import { decideExpress } from '../../../functions/reconciler/decide-express.ts';
import { reconcile, reconcileEnded } from '../../../functions/reconciler/reconcile.ts';
import { sweep } from '../../../functions/reconciler/sweep.ts';
import { ENGINES } from '../../../functions/tasks/engines.ts';
import { TooManyStarts } from '../../../functions/tasks/errors.ts';
import { limits } from '../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import { startDue } from '../../../functions/tasks/transitions/express.ts';
import { executionArn } from '../../support/engine/memory.ts';
import { applied } from '../tasks/applied.ts';
import { answered, END, engines, fakeContext, key, MINUTE, record, T0 } from './fake-context.ts';

const ON = { engine: 'express' } as const;
const refusing = (error: Error) => ({ start: () => Promise.reject(error), stop: async () => {} });
const express = (over: Partial<TaskRecord> = {}) => record({ ...ON, arguments: '{"n":1}', ...over });
/** When its run is probably over: 5½ minutes after its first check. */
const OVER = T0 + MINUTE + ENGINES.express.dead;
const waits = (over: Partial<TaskRecord> = {}) => express({ seenRound: 1, dueAt: OVER, ...over });
const onExpress = { toolEngine: engines({ x: 'express' }) };
const NOW = { engine: 'express', repeatable: true } as const;
const decideNow = (task: TaskRecord, now: number) => decideExpress(task, now, NOW);
const ENDED = { status: 'failed', error: expect.stringContaining('The run of the tool ended without a result') };

test('at its first check the sweep comes back once the run is probably over: 5.5 minutes later', async () => {
  const { context, records, did } = fakeContext([express()], onExpress);
  expect(await reconcile(key, false, context)).toBe('postponed');
  expect(did).toEqual(['get', 'applyBlind']);
  expect(records.get('t')).toEqual(waits());
  expect(decideNow(waits(), OVER - 1)).toEqual({ kind: 'nothing' });
});

test('then its round starts again, the first one as well, and nothing is asked (rows 4, 11, 13)', async () => {
  const { context, records, executions, did, clock } = fakeContext([waits()], onExpress);
  clock.now = OVER;
  expect(await reconcile(key, true, context)).toBe('run_lost');
  expect(did).toEqual(['get', 'applyBlind', 'start']);
  expect(executions.all().map(({ input }) => JSON.parse(input))).toMatchObject([{ round: 1, arguments: '{"n":1}' }]);
  expect(records.get('t')).toMatchObject({
    // Not later than the moment by which the sweep has to write the failure.
    dueAt: Math.min(END, clock.now + ENGINES.express.dead),
    events: [{}, { at: clock.now, what: 'restarted' }],
  });
});

test('in the walk of a sweep nothing starts: starts have their own pace', async () => {
  const { context, did, clock } = fakeContext([waits()], onExpress);
  clock.now = OVER;
  expect(await reconcile(key, false, context)).toBe('start');
  expect(did).toEqual(['get']);
});

test('a sweep starts 6 rounds a second, also after Step Functions had no room for one', async () => {
  const many = Array.from({ length: 12 }, (_, i) => waits({ taskId: `t${i}`, dueAt: OVER + i }));
  const { context, clock, did } = fakeContext(many, onExpress);
  clock.now = OVER + MINUTE;
  const begun = clock.now;
  expect((await sweep(clock.now + 50_000, context)).repaired).toEqual({ run_lost: 12 });
  expect(clock.now - begun).toBeGreaterThanOrEqual(1_800);
  expect(did.filter((call) => call === 'start')).toHaveLength(12);

  const full = fakeContext(many, { ...onExpress, workflow: refusing(new TooManyStarts(true)) });
  full.clock.now = OVER + MINUTE;
  const report = await sweep(full.clock.now + 50_000, full.context);
  expect(report).toMatchObject({ complete: true, errors: {}, left: 12 });
  // It comes back to the one that was refused.
  expect(full.records.get('t0')?.dueAt).toBe(OVER + 2 * MINUTE);
});

test('starts on Express and reads on Standard take turns, and each engine has its quota', async () => {
  const many = Array.from({ length: 30 }, (_, i) => waits({ taskId: `t${i}`, dueAt: OVER - i }));
  const standard = Array.from({ length: 30 }, (_, i) => record({ taskId: `s${i}`, tool: 'y', dueAt: OVER + i }));
  const { context, clock } = fakeContext([...many, ...standard], {
    toolEngine: engines({ x: 'express', y: 'standard' }),
    workflow: refusing(new TooManyStarts(true)),
  });
  clock.now = OVER + MINUTE;
  let described = 0;
  const describe = async (arn: string) => {
    described++;
    return context.describe(arn);
  };
  const report = await sweep(clock.now + 20_000, { ...context, describe });
  expect(report.errors).toEqual({});
  expect(described).toBe(30);
  expect(report.left).toBe(30);
});

test('a start that is refused each minute is one event of the record', async () => {
  const refused = refusing(new TooManyStarts(true));
  const { context, records, clock } = fakeContext([waits({ deadlineAt: T0 + 60 * MINUTE })], {
    ...onExpress,
    workflow: refused,
  });
  for (let minute = 0; minute < 4; minute++) {
    clock.now = OVER + minute * MINUTE;
    await reconcile(key, true, context).catch(() => undefined);
  }
  expect(records.get('t')?.events?.map(({ what }) => what)).toEqual(['created', 'restarted']);
});

test('two sweeps at once start one run, and so does one whose write fails (row 17)', async () => {
  const { context, did, clock, executions } = fakeContext([waits()], onExpress);
  clock.now = OVER;
  const stale = { ...context, store: { ...context.store, get: async () => waits() } };
  expect(await reconcile(key, true, stale)).toBe('run_lost');
  clock.now += 1;
  expect(await reconcile(key, true, stale)).toBe('nothing');
  expect(did.filter((call) => call === 'start')).toHaveLength(1);
  expect(executions.all()).toHaveLength(1);
  const failing = fakeContext([waits()], onExpress);
  failing.clock.now = OVER;
  const applyBlind = async () => {
    throw new Error('no');
  };
  const broken = { ...failing.context, store: { ...failing.context.store, applyBlind } };
  await expect(reconcile(key, true, broken)).rejects.toThrow('no');
  expect(failing.did).not.toContain('start');
});

test('a start that is refused is tried again a minute later', async () => {
  const refused = new TooManyStarts(true);
  const { context, records, clock } = fakeContext([waits()], { ...onExpress, workflow: refusing(refused) });
  clock.now = OVER;
  await expect(reconcile(key, true, context)).rejects.toThrow(refused);
  expect(records.get('t')?.dueAt).toBe(OVER + MINUTE);
  expect(decideNow(records.get('t') ?? waits(), OVER + MINUTE)).toMatchObject({ kind: 'run_lost' });
});

test('a start without an answer may have begun a run: the next comes when that is over (row 3)', async () => {
  let starts = 0;
  const start = async () => {
    starts++;
    throw Object.assign(new Error('no answer'), { name: 'TimeoutError' });
  };
  const deadlineAt = T0 + 20 * MINUTE;
  const lost = fakeContext([waits({ deadlineAt })], { ...onExpress, workflow: { start, stop: async () => {} } });
  const sweeps = 12;
  for (let minute = 0; minute < sweeps; minute++) {
    lost.clock.now = OVER + minute * MINUTE;
    await reconcile(key, true, lost.context).catch(() => undefined);
  }
  // 5½ minutes and the wait for the next sweep between two of them.
  expect(starts).toBe(sweeps / 6);
});

test('a sweep that cannot read the input does not move the time that another sweep has claimed', async () => {
  const { context, did, clock, records } = fakeContext([waits({ deadlineAt: T0 + 60 * MINUTE })], onExpress);
  clock.now = OVER;
  const whole = async () => {
    expect(await reconcile(key, true, context)).toBe('run_lost');
    throw new Error('S3');
  };
  const slow = { ...context, inputs: { ...context.inputs, whole } };
  await expect(reconcile(key, true, slow)).rejects.toThrow('S3');
  expect(records.get('t')?.dueAt).toBe(OVER + ENGINES.express.dead);
  clock.now += MINUTE;
  await reconcile(key, true, context);
  expect(did.filter((call) => call === 'start')).toHaveLength(1);
});

test('the note of a refused start, sent again, does not make a round due that was started', () => {
  const refused = startDue(express(), T0 + 1_000);
  const due = applied(express(), refused);
  expect(due).toMatchObject({ dueAt: T0 + 1_000, seenRound: 1 });
  expect(applied({ ...express(), ...due, dueAt: T0 + ENGINES.express.dead }, refused)).toBeUndefined();
});

test('a crash between write and start costs the time of one more run, and no start is made twice', async () => {
  const { context, records, did, clock, kill } = fakeContext([waits({ deadlineAt: T0 + 60 * MINUTE })], onExpress);
  clock.now = OVER;
  kill.after = 2;
  await expect(reconcile(key, true, context)).rejects.toThrow();
  clock.now = OVER + ENGINES.express.dead;
  // What pushed the next check is dead, too: the record is as the write left it.
  records.set({ ...(records.get('t') ?? waits()), dueAt: clock.now });
  expect(await reconcile(key, true, context)).toBe('run_lost');
  expect(did.filter((call) => call === 'start')).toHaveLength(1);
});

test('a later round without a note of its start begins at its first check (row 16)', () => {
  const next = answered({ ...ON, seenRound: 1 });
  expect(decideNow(next, T0 + MINUTE)).toMatchObject({ kind: 'run_lost', change: { set: { seenRound: 2 } } });
  expect(decideNow({ ...next, seenRound: 2, dueAt: OVER }, T0 + MINUTE)).toEqual({ kind: 'nothing' });
});

test('near its deadline nothing starts, and after it the task fails; no run is stopped (row 13)', async () => {
  const { deadlineAt } = express();
  const late = waits({ dueAt: deadlineAt - 1 });
  expect(decideNow(late, deadlineAt - 1)).toMatchObject({ kind: 'run_lost' });
  expect(decideNow(late, deadlineAt)).toEqual({ kind: 'nothing' });
  expect(decideNow(express(), deadlineAt - 1).kind).toBe('postponed');
  const { context, did, clock } = fakeContext([late], onExpress);
  clock.now = END + 1;
  expect(await reconcile(key, true, context)).toBe('overdue');
  expect(did).toEqual(['get', 'applyBlind']);
});

describe('a deployment has changed the engine of its tool (row 23)', () => {
  test('to Express: a round on Standard is asked for and ended there, as before', async () => {
    const { context, records, did, executions } = fakeContext([record()], onExpress);
    executions.put(executionArn('t', 1));
    expect(await reconcile(key, true, context)).toBe('postponed');
    expect(did).toEqual(['get', 'describe', 'applyBlind']);
    expect(await reconcileEnded(key, executionArn('t', 1), { status: 'ABORTED' }, context)).toBe('run_ended');
    expect(records.get('t')).toMatchObject(ENDED);
  });

  test.each(['express', 'machine'] as const)(
    'to %s: a round whose start was lost starts there, and no end of another run ends it',
    async (engine) => {
      const { context, records, did, executions } = fakeContext([answered()], { toolEngine: engines({ x: engine }) });
      expect(await reconcile(key, true, context)).toBe('not_restarted');
      const written = engine === 'express' ? ['applyBlind', 'start'] : ['start', 'applyBlind'];
      expect(did).toEqual(['get', 'describe', ...written]);
      expect(records.get('t')).toMatchObject({ engine });
      expect(executions.all().map(({ arn }) => arn)).toEqual([expect.stringContaining(`S-${engine}:`)]);
      expect(await reconcileEnded(key, executionArn('t', 2), { status: 'ABORTED' }, context)).toBe('nothing');
      expect(records.get('t')?.status).toBe('working');
    },
  );

  test('to Standard, not repeatable now: fails once its run is probably over, starts nothing', async () => {
    const later = [waits(), answered({ ...ON })];
    for (const task of later) {
      const { context, records, did, clock } = fakeContext([task], { repeatable: new Set() });
      if (task.round === 2) expect(await reconcile(key, true, context)).toBe('postponed');
      clock.now = OVER;
      expect(await reconcile(key, true, context)).toBe('run_ended');
      expect(did).not.toContain('start');
      expect(did).not.toContain('describe');
      expect(records.get('t')).toMatchObject(ENDED);
    }
  });

  test('to Standard: its round starts there once, and is seen there from then on', async () => {
    const { context, records, did, clock } = fakeContext([waits()]);
    clock.now = OVER;
    expect(await reconcile(key, true, context)).toBe('run_lost');
    expect(did).toEqual(['get', 'start', 'applyBlind']);
    const { dueAt = 0, ...now } = records.get('t') ?? waits();
    expect(now).toMatchObject({ engine: 'standard', seenRound: 1 });
    clock.now = dueAt;
    expect(await reconcile(key, true, { ...context, describe: async () => ({ status: 'RUNNING' }) })).toBe('postponed');
  });

  test('to Standard, where a run of that name has ended: the task fails', async () => {
    const workflow = { start: async () => 'taken' as const, stop: async () => {} };
    const { context, records, clock } = fakeContext([waits()], { workflow });
    clock.now = OVER;
    expect(await reconcile(key, true, context)).toBe('run_ended');
    expect(records.get('t')).toMatchObject(ENDED);
  });

  test('to Standard: a task that began on Express is not described before that', async () => {
    const { context, did } = fakeContext([express()]);
    expect(await reconcile(key, true, context)).toBe('postponed');
    expect(did).not.toContain('describe');
  });

  test('and its tool is gone: it waits for another deployment, and is not failed', async () => {
    const { context, records, did, clock } = fakeContext([waits()], { toolEngine: engines({}), repeatable: new Set() });
    clock.now = OVER;
    expect(await reconcile(key, true, context)).toBe('postponed');
    expect(did).not.toContain('start');
    expect(records.get('t')?.status).toBe('working');
  });
});

test('each start of a round has ended before its first check', () => {
  const attempts = 20_000;
  expect(limits.startWithin + attempts).toBeLessThan(limits.firstDue);
  expect(ENGINES.express.dead).toBeGreaterThan(ENGINES.express.longestRun + attempts);
  const task = { tool: 'x', ttl: 1, timeout: 1, accepts: [], legacy: false, engine: 'express' } as const;
  expect(create({ owner: 'o', taskId: 't' }, task, T0)).toMatchObject({ ...ON, dueAt: T0 + limits.firstDue });
});
