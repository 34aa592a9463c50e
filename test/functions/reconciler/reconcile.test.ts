import { beforeEach, describe, expect, test, vi } from 'vitest';
import { reconcile, reconcileEnded } from '../../../functions/reconciler/reconcile.ts';
import { RecordUnknown } from '../../../functions/tasks/errors.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { inputStore } from '../../../functions/tasks/s3/input-store.ts';
import { moved } from '../../../functions/tasks/s3/moved-input.ts';
import { MACHINES } from '../../support/engine/executions.ts';
import { executionArn } from '../../support/engine/memory.ts';
import { createObjects } from '../../support/engine/objects.ts';
import { answered, END, fakeContext, key, MINUTE, record, T0, waiting } from './fake-context.ts';

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
});

describe('a task that is due', () => {
  test('and runs is confirmed: one read, one describe, one write (row 5)', async () => {
    const { context, records, executions, did } = fakeContext([record()]);
    executions.put(executionArn('t', 1), { status: 'RUNNING' });
    expect(await reconcile(key, true, context)).toBe('postponed');
    expect(did).toEqual(['get', 'describe', 'applyBlind']);
    expect(records.get('t')).toEqual(record({ seenRound: 1, dueAt: T0 + 6 * MINUTE }));
  });

  test('and was never started fails first, then is stopped in case it exists after all (row 4)', async () => {
    const { context, records, did } = fakeContext([record()]);
    expect(await reconcile(key, true, context)).toBe('never_started');
    expect(did).toEqual(['get', 'describe', 'applyBlind', 'stop']);
    expect(records.get('t')).toMatchObject({ status: 'failed', statusMessage: 'The task could not be started' });
    expect(console.error).not.toHaveBeenCalled();
  });

  test('and was answered is started again, with its answers, under the same name (row 16)', async () => {
    const { context, records, executions, did } = fakeContext([answered()]);
    expect(await reconcile(key, true, context)).toBe('not_restarted');
    expect(did).toEqual(['get', 'describe', 'start', 'applyBlind']);
    expect(JSON.parse(executions.get(executionArn('t', 2))?.input ?? '')).toMatchObject({
      round: 2,
      arguments: '{"n":1}',
      inputResponses: { a: { action: 'accept' } },
    });
    expect(records.get('t')).toMatchObject({ status: 'working', dueAt: T0 + 2 * MINUTE });
  });

  test('and was answered, with its input in S3, is started with all of it (row 16)', async () => {
    const { record: slim, text } = moved(answered());
    const { context, executions } = fakeContext([slim]);
    await context.inputs.put(slim, text);
    expect(await reconcile(key, true, context)).toBe('not_restarted');
    expect(JSON.parse(executions.get(executionArn('t', 2))?.input ?? '')).toMatchObject({
      arguments: '{"n":1}',
      keepArguments: false,
      inputResponses: { a: { action: 'accept' } },
    });
  });

  test('and whose input is lost is failed, and says so; not while it runs (row 16)', async () => {
    const { record: slim } = moved(answered());
    const { context, records, did } = fakeContext([slim]);
    expect(await reconcile(key, true, context)).toBe('not_restarted');
    expect(did).toEqual(['get', 'describe', 'applyBlind']);
    expect(records.get('t')).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('"reason":"InputLost"'),
    });
    expect(records.get('t')).not.toHaveProperty('inputRef');
    const running = fakeContext([slim]);
    running.executions.put(executionArn('t', 2), { status: 'RUNNING' });
    expect(await reconcile(key, true, running.context)).toBe('postponed');
  });

  test.each([
    ['SUCCEEDED', 120_000, 'KeyExpired'],
    ['RUNNING', 120_000, 'KeyExpired'],
    ['FAILED', 1_000, 'RunLost'],
  ] as const)('and whose run %s, begun %i ms before it, fails as %s (row 6)', async (status, before, failure) => {
    const { context, executions, records } = fakeContext([answered({ digest: 'd' })]);
    executions.put(executionArn('t', 2), { status, startDate: T0 - before });
    expect(await reconcile(key, true, context)).toBe('run_ended');
    expect(records.get('t')).toMatchObject({ status: 'failed', failure });
  });

  test('and whose input cannot be read at the moment is left for the next sweep', async () => {
    const { record: slim } = moved(answered());
    const objects = createObjects();
    objects.state.down = 'SlowDown';
    const { context, records } = fakeContext([slim], { inputs: inputStore(objects) });
    await expect(reconcile(key, true, context)).rejects.toMatchObject({ name: 'ResultStoreError' });
    expect(records.get('t')).toMatchObject({ status: 'working', due: slim.due });
  });

  test('and whose run died is failed with the name of its error (rows 11, 13)', async () => {
    const { context, records, executions, did } = fakeContext([record()]);
    executions.put(executionArn('t', 1), { status: 'FAILED', error: 'States.Runtime' });
    expect(await reconcile(key, true, context)).toBe('run_ended');
    expect(did).toEqual(['get', 'describe', 'applyBlind']);
    expect(records.get('t')?.error).toContain('"reason":"States.Runtime"');
  });

  test('and past its deadline fails and its run is stopped, without a describe', async () => {
    const { context, executions, did, clock } = fakeContext([record()]);
    executions.put(executionArn('t', 1), { status: 'RUNNING' });
    clock.now = END + 1;
    expect(await reconcile(key, true, context)).toBe('overdue');
    expect(did).toEqual(['get', 'applyBlind', 'stop', 'applyBlind']);
    expect(executions.get(executionArn('t', 1))?.status).toBe('ABORTED');
  });

  test('and was not answered has no run to stop (row 17)', async () => {
    const { context, records, did, clock } = fakeContext([waiting()]);
    clock.now = END + 1;
    expect(await reconcile(key, true, context)).toBe('unanswered');
    expect(did).toEqual(['get', 'applyBlind']);
    expect(records.get('t')?.status).toBe('failed');
  });

  test('and whose tool is gone is checked as before; a lost start waits for the tool (row 23)', async () => {
    const working = fakeContext([record({ tool: 'gone' })]);
    working.executions.put(executionArn('t', 1));
    expect(await reconcile(key, true, working.context)).toBe('postponed');
    expect(working.records.get('t')).toMatchObject({ status: 'working', seenRound: 1 });

    const { context, records, did } = fakeContext([answered({ tool: 'gone' })]);
    expect(await reconcile(key, true, context)).toBe('postponed');
    expect(did).toEqual(['get', 'describe', 'applyBlind']);
    expect(records.get('t')).toMatchObject({ status: 'working', dueAt: context.now() + 300_000 });
  });

  test('and depends on its run is left unchanged if describing is not allowed', async () => {
    const { context, did } = fakeContext([record()]);
    expect(await reconcile(key, false, context)).toBe('check');
    expect(did).toEqual(['get']);
  });

  test('is nothing to do once it is gone', async () => {
    const { context, did } = fakeContext();
    expect(await reconcile(key, true, context)).toBe('nothing');
    expect(did).toEqual(['get']);
  });
});

describe('a task whose tool is a state machine', () => {
  const machine = MACHINES.replace(/S-$/, 'Mine');
  const work = `${machine.replace(':stateMachine:', ':execution:')}:t-r1`;
  const stateMachines = new Map([['x', machine]]);

  test('is read as any other at first, and then with its machine', async () => {
    const { context, executions, did, clock } = fakeContext([record()], { stateMachines });
    executions.put(executionArn('t', 1), { status: 'RUNNING' });
    executions.put(work, { status: 'RUNNING' });
    expect(await reconcile(key, true, context)).toBe('postponed');
    expect(did).toEqual(['get', 'describe', 'applyBlind']);
    clock.now += 5 * MINUTE;
    expect(await reconcile(key, false, context)).toBe('check_again');
    expect(await reconcile(key, true, context)).toBe('postponed');
    expect(did.slice(4)).toEqual(['get', 'describe', 'describe', 'applyBlind']);
  });

  test('with a machine that this role may not describe: the workflow decides', async () => {
    const { context, executions, clock } = fakeContext([record({ seenRound: 1 })], { stateMachines });
    const describe = async (arn: string) => {
      if (arn === work) throw Object.assign(new Error(), { name: 'KmsAccessDeniedException' });
      return executions.get(arn) ?? ({ status: 'RUNNING' } as const);
    };
    expect(await reconcile(key, true, { ...context, describe })).toBe('postponed');
    executions.put(executionArn('t', 1), { status: 'ABORTED' });
    clock.now += 5 * MINUTE;
    expect(await reconcile(key, true, { ...context, describe })).toBe('run_ended');
  });

  test('and describing the machine fails otherwise: nothing is written, so no result is lost', async () => {
    const { context, executions, records } = fakeContext([record({ seenRound: 1 })], { stateMachines });
    executions.put(executionArn('t', 1), { status: 'FAILED' });
    const describe = async (arn: string) => {
      if (arn === work) throw Object.assign(new Error(), { name: 'ThrottlingException' });
      return executions.get(arn) ?? ({ status: 'RUNNING' } as const);
    };
    await expect(reconcile(key, true, { ...context, describe })).rejects.toThrow();
    await expect(
      reconcileEnded(key, executionArn('t', 1), { status: 'FAILED' }, { ...context, describe }),
    ).rejects.toThrow();
    expect(records.get('t')?.status).toBe('working');
  });
});

describe('Step Functions', () => {
  test('that says nothing of the run changes nothing', async () => {
    const describe = async () => {
      throw Object.assign(new Error('Rate exceeded'), { name: 'ThrottlingException' });
    };
    const { context, records } = fakeContext([record()], { describe });
    await expect(reconcile(key, true, context)).rejects.toThrow('Rate exceeded');
    expect(records.get('t')).toEqual(record());
  });

  test('that does not stop a run is logged in one line with its name', async () => {
    const { context, records, clock } = fakeContext([record()]);
    context.workflow.stop = async () => {
      throw Object.assign(new Error('arn:aws:states:secret'), { name: 'ThrottlingException' });
    };
    clock.now = END + 1;
    expect(await reconcile(key, true, context)).toBe('overdue');
    expect(records.get('t')?.status).toBe('failed');
    expect(vi.mocked(console.error).mock.calls).toEqual([
      ['{"event":"stop_failed","tool":"x","error":"ThrottlingException"}'],
    ]);
  });
});

/** Its run is stopped, or has ended. */
const { due: _due, dueAt: _dueAt, ...ended } = record({ status: 'cancelled' });

describe('a run that has ended', () => {
  test('fails its task', async () => {
    const { context, records, did } = fakeContext([record({ dueAt: END })]);
    expect(await reconcileEnded(key, executionArn('t', 1), { status: 'ABORTED' }, context)).toBe('run_ended');
    expect(did).toEqual(['get', 'applyBlind']);
    expect(records.get('t')?.status).toBe('failed');
  });

  test.each<[string, TaskRecord]>([
    ['has ended', { ...ended, status: 'completed' }],
    ['was cancelled', ended],
    ['waits for an answer', waiting()],
    ['is in another round', answered()],
  ])('changes nothing of a task that %s', async (_title, task) => {
    const { context, records, did } = fakeContext([task]);
    expect(await reconcileEnded(key, executionArn('t', 1), { status: 'FAILED' }, context)).toBe('nothing');
    expect(did).toEqual(['get']);
    expect(records.get('t')).toEqual(task);
  });
});

describe('a record that this release does not understand', () => {
  const unknown = () => {
    const fake = fakeContext([record()]);
    const get = async () => {
      throw new RecordUnknown('t');
    };
    return { ...fake, context: { ...fake.context, store: { ...fake.context.store, get } } };
  };

  test('is postponed, and nothing else is done with it', async () => {
    const { context, did, records, clock } = unknown();
    expect(await reconcile(key, true, context)).toBe('postponed');
    expect(did).toEqual(['postpone']);
    expect(records.get('t')).toEqual(record({ dueAt: clock.now + 5 * MINUTE }));
  });

  test('and whose run has ended is left as it is', async () => {
    const { context, did } = unknown();
    expect(await reconcileEnded(key, executionArn('t', 1), { status: 'FAILED' }, context)).toBe('nothing');
    expect(did).toEqual([]);
  });
});
