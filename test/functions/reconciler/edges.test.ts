import type { SFNClient } from '@aws-sdk/client-sfn';
import { DescribeExecutionCommand, SFNClient as StepFunctions } from '@aws-sdk/client-sfn';
import { DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { resumeRound } from '../../../functions/engine/resume.ts';
import { decide } from '../../../functions/reconciler/decide.ts';
import { decideExpress } from '../../../functions/reconciler/decide-express.ts';
import { describer } from '../../../functions/reconciler/describe.ts';
import { createHandler, handle, type ReconcilerEvent } from '../../../functions/reconciler/index.ts';
import { reportLines } from '../../../functions/reconciler/metrics.ts';
import type { Run } from '../../../functions/reconciler/outcome.ts';
import { reconcile, reconcileEnded } from '../../../functions/reconciler/reconcile.ts';
import { sweep } from '../../../functions/reconciler/sweep.ts';
import { ENGINES } from '../../../functions/tasks/engines.ts';
import { TooManyStarts } from '../../../functions/tasks/errors.ts';
import { limits } from '../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { after } from '../../../functions/tasks/transitions/change.ts';
import { fakeClient } from '../../support/aws-client.ts';
import { MACHINES } from '../../support/engine/executions.ts';
import { executionArn } from '../../support/engine/memory.ts';
import { END, engines, fakeContext, GRACE, key, MINUTE, record, T0, waiting } from './fake-context.ts';

beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));
afterEach(() => vi.restoreAllMocks());

const OVER = T0 + MINUTE + ENGINES.express.dead;
const onExpress = { toolEngine: engines({ x: 'express' }) };
const express = (over: Partial<TaskRecord> = {}) =>
  record({ engine: 'express', arguments: '{}', seenRound: 1, dueAt: OVER, deadlineAt: T0 + 60 * MINUTE, ...over });
const failing = (error: Error) => () => Promise.reject(error);
const changed = (task: TaskRecord, now: number, run: Run) => {
  const decision = decide(task, now, run);
  return 'change' in decision ? after(task, decision.change) : undefined;
};

describe('on Express', () => {
  test('a start that may have begun is not taken back, whatever refused it (row 3)', async () => {
    for (const [certain, dueAt] of [
      [false, OVER + ENGINES.express.dead],
      [true, OVER + MINUTE],
    ] as const) {
      const workflow = { start: failing(new TooManyStarts(certain)), stop: async () => {} };
      const { context, records, clock } = fakeContext([express()], { ...onExpress, workflow });
      clock.now = OVER;
      await expect(reconcile(key, true, context)).rejects.toThrow('Too many tasks');
      expect(records.get('t')?.dueAt).toBe(dueAt);
    }
  });

  test('a refused start does not move a check that another sweep has moved since', async () => {
    const { context, records, clock } = fakeContext([express()], onExpress);
    clock.now = OVER;
    const start = async () => {
      records.set({ ...(records.get('t') ?? express()), dueAt: OVER + 99 });
      throw new TooManyStarts(true);
    };
    await expect(reconcile(key, true, { ...context, workflow: { ...context.workflow, start } })).rejects.toThrow();
    expect(records.get('t')?.dueAt).toBe(OVER + 99);
  });

  test('the end of a task that may not be repeated any more is left to the sweep', async () => {
    const { context, did, clock } = fakeContext([express()], { ...onExpress, repeatable: new Set() });
    clock.now = OVER;
    expect(await reconcile(key, false, context)).toBe('check_again');
    expect(did).toEqual(['get']);
  });

  test('a round without a time for its check is checked when its run is probably over', () => {
    const { dueAt: _, seenRound: __, ...fresh } = express();
    const decision = decideExpress(fresh, OVER, { engine: 'express', repeatable: true });
    expect(decision).toMatchObject({ kind: 'postponed', change: { set: { dueAt: OVER + ENGINES.express.dead } } });
  });
});

describe('a task that cannot be repaired now', () => {
  test('fails with the error of its repair, also if the note of it fails', async () => {
    const { context } = fakeContext([record()], { describe: failing(new Error('Rate exceeded')) });
    const store = { ...context.store, applyBlind: failing(new Error('down')) };
    await expect(reconcile(key, true, { ...context, store })).rejects.toThrow('Rate exceeded');
  });

  test('is due at once if it could not be checked, a minute later if it could not be started', async () => {
    const checked = fakeContext([record()], { describe: failing(new Error('no')) });
    await expect(reconcile(key, true, checked.context)).rejects.toThrow();
    expect(checked.records.get('t')?.dueAt).toBe(T0 + MINUTE);
  });
});

describe('the end of a run', () => {
  test('of a task that is gone, or asks, is nothing; its state machine is not asked', async () => {
    const stateMachines = new Map([['x', `${MACHINES}own`]]);
    for (const tasks of [[], [waiting()]]) {
      const { context, did } = fakeContext(tasks, { stateMachines });
      expect(await reconcileEnded(key, executionArn('t', 1), { status: 'FAILED' }, context)).toBe('nothing');
      expect(did).toEqual(['get']);
    }
  });

  test('that is missing on time is started or failed, and too late is only failed, with a stop', () => {
    const late = END - GRACE + limits.lateWrite;
    expect(decide(record(), late, { status: 'missing' })).toMatchObject({ kind: 'never_started', stop: true });
    expect(decide(record(), late + 1, { status: 'missing' })).toMatchObject({ kind: 'overdue', stop: true });
    expect(decide(record({ seenRound: 1 }), late + 1, { status: 'missing' })).not.toHaveProperty('stop');
  });

  test('of a state machine whose workflow is deaf is written as that one writes it', () => {
    const seen = record({ seenRound: 1 });
    const heard = T0 + 8 * MINUTE;
    const of = (work: Partial<Run>) =>
      changed(seen, heard, {
        status: 'RUNNING',
        work: { status: 'ABORTED', stoppedAt: heard - limits.unheard, ...work },
      });
    expect(of({ error: 'Mine' })).toMatchObject({ failure: 'ToolFailed', error: expect.stringContaining('"Mine"') });
    expect(of({ status: 'TIMED_OUT' })).toMatchObject({ failure: 'TimedOut' });
    // It said that it has succeeded, and not with what.
    expect(of({ status: 'SUCCEEDED' })).toMatchObject({ failure: 'RunLost' });
    expect(of({ stoppedAt: undefined })).toMatchObject({ status: 'working' });
  });
});

describe('what Step Functions says of an execution', () => {
  const said = (answer: object | Error) =>
    describer(fakeClient<SFNClient>(async () => (answer instanceof Error ? Promise.reject(answer) : answer)))('arn');

  test('is taken over, with its times in ms', async () => {
    const answer = {
      status: 'FAILED',
      error: 'E',
      input: 'i',
      output: 'o',
      startDate: new Date(5),
      stopDate: new Date(7),
    };
    const times = { startedAt: 5, stoppedAt: 7 };
    expect(await said(answer)).toEqual({ status: 'FAILED', error: 'E', input: 'i', output: 'o', ...times });
    for (const open of [{ status: 'PENDING_REDRIVE' }, {}])
      expect(await said(open)).toMatchObject({ status: 'RUNNING' });
  });

  test('an execution that does not exist is reported missing, any other error is thrown', async () => {
    const named = (name: string) => Object.assign(new Error('x'), { name });
    expect(await said(named('ExecutionDoesNotExist'))).toEqual({ status: 'missing' });
    await expect(said(named('ThrottlingException'))).rejects.toThrow('x');
  });
});

describe('a sweep', () => {
  test('in which every task fails does not count as a heartbeat; one that settles a task does', async () => {
    const broken = record({ taskId: 'broken', dueAt: T0 });
    const context = ({ context: all }: ReturnType<typeof fakeContext>) => ({
      ...all,
      store: {
        ...all.store,
        get: (given: Parameters<typeof all.store.get>[0]) =>
          given.taskId === 'broken' ? Promise.reject(new Error('no')) : all.store.get(given),
      },
    });
    const only = fakeContext([broken]);
    expect(await sweep(only.clock.now + 50_000, context(only))).toMatchObject({ complete: false, due: 0 });
    const both = fakeContext([broken, record()]);
    expect(await sweep(both.clock.now + 50_000, context(both))).toMatchObject({ complete: true, due: 1 });
  });

  test('counts by name what is thrown, also if that is no error', async () => {
    const { context, clock } = fakeContext([record()]);
    const get = () => Promise.reject('a text');
    const { errors } = await sweep(clock.now + 50_000, { ...context, store: { ...context.store, get } });
    expect(errors).toEqual({ Error: 1 });
  });
});

describe('the tick of the schedule', () => {
  const lines: string[] = [];
  beforeEach(() => {
    lines.length = 0;
    vi.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
  });
  const tick = (late: number) =>
    ({
      'detail-type': 'Scheduled Event',
      time: new Date(T0 + MINUTE - late).toISOString(),
    }) as unknown as ReconcilerEvent;

  test('that is more than 90 s late is left out', async () => {
    const { context } = fakeContext();
    await handle(tick(90_001), 60_000, context, 'S');
    expect(lines).toEqual([]);
    await handle(tick(90_000), 60_000, context, 'S');
    expect(lines).toHaveLength(1);
  });

  test('says how old the oldest open task is, and is a heartbeat if that is not known', async () => {
    const aged = fakeContext([], { oldestOpen: async () => T0 });
    await handle(tick(0), 60_000, aged.context, 'S');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ Sweep: 1, TimeOldestOpen: MINUTE });
    const unknown = fakeContext([], { oldestOpen: failing(Object.assign(new Error('x'), { name: 'Throttled' })) });
    await handle(tick(0), 60_000, unknown.context, 'S');
    expect(JSON.parse(lines[1] ?? '')).toMatchObject({ Sweep: 1 });
    expect(lines[1]).not.toContain('TimeOldestOpen');
    expect(vi.mocked(console.error).mock.calls[0]?.[0]).toContain('"event":"oldest_open_unknown","error":"Throttled"');
  });

  test('counts what it did, and nothing that it did not', () => {
    const report = { complete: false, due: 3, left: 2, repaired: { overdue: 1 }, errors: { A: 2, B: 3 } } as const;
    const [counts, repaired] = reportLines(report, T0 + 1, 'S', T0).map((line) => JSON.parse(line));
    expect(counts).toMatchObject({ Due: 3, Left: 2, Overdue: 1, Errors: 5, TimeOldestOpen: 0 });
    expect(counts).not.toHaveProperty('Sweep');
    expect(repaired).toMatchObject({ Kind: 'overdue', Repaired: 1 });
    const idle = { complete: true, due: 0, left: 0, repaired: {}, errors: {} };
    expect(reportLines(idle, undefined, 'S', T0)).toHaveLength(1);
    expect(reportLines({ ...idle, complete: false }, undefined, 'S', T0)).toEqual([]);
  });
});

test('the function reads the state machine of a tool by its index in TOOL_MACHINES', async () => {
  const [db, states] = [mockClient(DynamoDBDocumentClient), mockClient(StepFunctions)];
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  for (const name of ['RESULTS_BUCKET', 'TASKS_TABLE', 'SERVER_NAME']) vi.stubEnv(name, 'named');
  vi.stubEnv('CHECKS_PER_SECOND', '6');
  vi.stubEnv('MACHINE_ARN_PREFIX', MACHINES);
  vi.stubEnv('TOOL_MACHINES', 'First,Second');
  const now = Date.now();
  const task = record({
    engine: 'machine',
    createdAt: now,
    updatedAt: now,
    deadlineAt: now + MINUTE,
    expiresAt: 2 * now,
  });
  db.on(GetCommand).resolves({ Item: task }).on(UpdateCommand).resolves({});
  states.on(DescribeExecutionCommand).resolves({ status: 'SUCCEEDED', output: '7' });
  const detail = {
    ...{ executionArn: executionArn('t', 1).replace('standard', 'machine'), status: 'ABORTED' },
    input: JSON.stringify({ owner: task.owner, taskId: 't', round: 1 }),
  };
  const event = { 'detail-type': 'Step Functions Execution Status Change', detail } as ReconcilerEvent;
  vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
  await createHandler([{ name: 'x', engine: 'machine', repeatable: false, stateMachine: 1 }])(event, {
    getRemainingTimeInMillis: () => 60_000,
  });
  expect(states.commandCalls(DescribeExecutionCommand).map(({ args }) => args[0].input)).toEqual([
    { executionArn: 'arn:aws:states:eu-west-1:111111111111:execution:Second:t-r1' },
  ]);
  const written = db.commandCalls(UpdateCommand).map(({ args }) => args[0].input);
  expect(written).toHaveLength(1);
  expect(JSON.stringify(written[0])).toContain('"completed"');
  db.restore();
  states.restore();
  vi.unstubAllEnvs();
});

describe('a task that waits', () => {
  const waits = JSON.stringify({ a: { kind: 'time', until: T0 } });
  const slept = () => record({ status: 'waiting', waits, asked: '{}', arguments: '{}', dueAt: T0 });

  test('begins no round after its deadline, when no run could end in time', async () => {
    const { context, did, clock, records } = fakeContext([slept()]);
    clock.now = END - GRACE + 1;
    expect(await reconcile(key, true, context)).toBe('nothing');
    expect(await resumeRound(slept(), context)).toBe('waits');
    expect(did).toEqual(['get']);
    clock.now = END + 1;
    await reconcile(key, true, context);
    expect(records.get('t')).toMatchObject({ status: 'failed', failure: 'NotFinished', round: 1 });
  });

  test('stays due after the others if its round cannot begin, so it does not use up every sweep', async () => {
    const inputs = { ...fakeContext().context.inputs, whole: failing(new Error('S3')) };
    const { context, records } = fakeContext([slept()], { inputs });
    await expect(reconcile(key, true, context)).rejects.toThrow('S3');
    expect(records.get('t')).toMatchObject({ status: 'waiting', round: 1, dueAt: T0 + MINUTE });
  });

  test('that another version of the server has to resume is due later', async () => {
    const { context, records } = fakeContext([slept()], { toolEngine: () => undefined });
    expect(await reconcile(key, true, context)).toBe('postponed');
    expect(records.get('t')).toMatchObject({ status: 'waiting', dueAt: T0 + MINUTE + 300_000 });
  });
});
