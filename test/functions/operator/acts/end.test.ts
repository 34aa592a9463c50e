import { describe, expect, test, vi } from 'vitest';
import { cancelTask, failTask } from '../../../../functions/operator/acts/end.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import {
  ann,
  arnOf,
  asking,
  denied,
  EXPRESS_TOOL,
  failing,
  KEY,
  MINUTE,
  operatorOn,
  repeating,
  T0,
  task,
} from '../operators.ts';

const running = (record: TaskRecord = task(), ...more: [Parameters<typeof operatorOn>[1]?]) => {
  const server = operatorOn([record], ...more);
  server.executions.put(arnOf(record.round));
  return server;
};
const DEADLINE = task().deadlineAt;

describe.each([
  ['cancel', cancelTask, 'cancelled', 'Cancelled'],
  ['fail', failTask, 'failed', 'Failed'],
] as const)('%s of an operator', (act, endTask, status, word) => {
  test('ends the task, then stops its run, and says who and why', async () => {
    const { context, records, executions, did, audited } = running();
    const outcome = await endTask(KEY, ann, context);
    expect(outcome).toEqual({ taskId: KEY.taskId, done: true, message: `${word}. Its run is stopped` });
    expect(did).toEqual(['applyBlind', 'stop', 'applyBlind']);
    expect(records.get(KEY.taskId)).toMatchObject({ status, updatedAt: T0 + MINUTE });
    expect(records.get(KEY.taskId)).not.toHaveProperty('due');
    expect(records.get(KEY.taskId)?.events?.at(-1)).toMatchObject({ at: T0 + MINUTE, what: status, ...ann });
    expect(executions.get(arnOf())?.status).toBe('ABORTED');
    const { owner, tool } = task();
    expect(audited).toEqual([{ act, taskId: KEY.taskId, owner, tool, ...ann, done: true, outcome: outcome.message }]);
  });

  test('changes nothing of a task that has ended, and says how it ended', async () => {
    const ended = task({ status: 'completed', updatedAt: T0 + 5_000, events: [{ at: T0 + 5_000, what: 'completed' }] });
    const { context, records, did, audited } = running(ended);
    expect(await endTask(KEY, ann, context)).toMatchObject({
      done: false,
      message: `Nothing to ${act}: it is completed already, since 2023-11-14 22:13:25Z`,
    });
    expect(did).toEqual([]);
    expect(records.get(KEY.taskId)).toEqual(ended);
    expect(audited).toMatchObject([{ done: false }]);
  });

  test.each([
    ['by ben (“INC-6”)', { by: 'operator', who: 'ben', reason: 'INC-6' }],
    ['by ben', { by: 'operator', who: 'ben', reason: '' }],
  ] as const)('names the operator that has ended it, and why: %s', async (by, operator) => {
    const events = [
      { at: T0, what: 'answered', by: 'operator', who: 'ann', reason: 'INC-5' },
      { at: T0 + 5_000, what: 'cancelled', ...operator },
      { at: T0 + 6_000, what: 'refused' },
    ] as const;
    const { context } = running(task({ status: 'cancelled', updatedAt: T0 + 5_000, events }));
    expect(await endTask(KEY, ann, context)).toMatchObject({
      message: `Nothing to ${act}: it is cancelled already ${by}, since 2023-11-14 22:13:25Z`,
    });
  });

  test('after the deadline only writes the failure that every reader is about to see', async () => {
    const { context, clock, records, executions } = running();
    clock.now = DEADLINE + 10_001;
    expect(await endTask(KEY, ann, context)).toMatchObject({
      done: false,
      message: 'Its deadline had passed: it is failed, as every reader was about to see',
    });
    expect(records.get(KEY.taskId)).toMatchObject({ status: 'failed', failure: 'NotFinished' });
    expect(executions.get(arnOf())?.status).toBe('ABORTED');
  });

  test('up to 10 s after the deadline of a task that works it still counts', async () => {
    const { context, clock, records } = running();
    clock.now = DEADLINE + 10_000;
    expect(await endTask(KEY, ann, context)).toMatchObject({ done: true });
    expect(records.get(KEY.taskId)).toMatchObject({ status });
  });

  test('30 s after the deadline there is nothing to end: every reader sees the failure', async () => {
    const { context, clock, did } = running();
    clock.now = DEADLINE + 30_001;
    expect(await endTask(KEY, ann, context)).toMatchObject({
      done: false,
      message: expect.stringContaining(`Nothing to ${act}: it is failed already`),
    });
    expect(did).toEqual([]);
  });

  test('loses to another writer that ends the task meanwhile, and says so', async () => {
    const server = running();
    const { context, records } = server;
    const other = records.get(KEY.taskId) ?? task();
    const store = {
      ...context.store,
      async applyBlind() {
        records.set({ ...other, status: 'completed', updatedAt: T0 + 9_000 });
        return false;
      },
    };
    const outcome = await endTask(KEY, ann, { ...context, store });
    expect(outcome).toMatchObject({
      done: false,
      message: expect.stringContaining('Not done: it is completed already'),
    });
    expect(server.did).toEqual([]);
  });

  test('of a task that has changed without an end asks to try again', async () => {
    const { context } = running();
    const store = { ...context.store, applyBlind: async () => false };
    expect(await endTask(KEY, ann, { ...context, store })).toMatchObject({
      done: false,
      message: 'Not done: it has changed meanwhile, and is working: try again',
    });
  });

  test('whose run Step Functions cannot stop now says that the sweep stops it', async () => {
    const { context, records } = running();
    const workflow = { ...context.workflow, stop: () => Promise.reject(new TypeError('down')) };
    expect(await endTask(KEY, ann, { ...context, workflow })).toMatchObject({
      done: true,
      message: `${word}. Its run is stopped within some minutes: it could not be stopped now`,
    });
    expect(records.get(KEY.taskId)).toHaveProperty('due');
  });

  test('on Express stops nothing, and says that the run goes on', async () => {
    const { context, did } = running(task({ engine: 'express' }), EXPRESS_TOOL);
    expect(await endTask(KEY, ann, context)).toMatchObject({
      done: true,
      message: `${word}. Its run cannot be stopped: it goes on until its tool notices, and changes nothing`,
    });
    expect(did).toEqual(['applyBlind']);
  });

  test('whose write the AWS client repeats, as its answer was lost, is done: its run is stopped', async () => {
    const server = running();
    expect(await endTask(KEY, ann, repeating(server))).toMatchObject({ done: true });
    expect(server.executions.get(arnOf())?.status).toBe('ABORTED');
    expect(server.audited).toMatchObject([{ done: true }]);
  });

  test('whose write gets no answer says that it is not known, and so does its audit line', async () => {
    const server = running();
    const message = `It is not known whether this was done (TypeError): see mcp-task-server tasks show ${KEY.taskId}`;
    expect(await endTask(KEY, ann, failing(server, new TypeError('down')))).toMatchObject({ done: false, message });
    expect(server.audited).toMatchObject([{ act, done: false, outcome: message }]);
  });

  test('that cannot read the task has done nothing: it throws, and writes no audit line', async () => {
    const { context, audited } = running();
    const reads = { ...context.reads, get: () => Promise.reject(new TypeError('down')) };
    await expect(endTask(KEY, ann, { ...context, reads })).rejects.toThrow('down');
    expect(audited).toEqual([]);
  });

  test('reads no payload, which its policy does not allow', async () => {
    const { context } = running();
    const payloads: boolean[] = [];
    const get: typeof context.reads.get = (key, payload) => {
      payloads.push(payload);
      return context.reads.get(key, payload);
    };
    const store = { ...context.store, applyBlind: async () => false };
    await endTask(KEY, ann, { ...context, store, reads: { ...context.reads, get } });
    expect(new Set(payloads)).toEqual(new Set([false]));
  });

  test('without the right to write changes nothing, and names the policy', async () => {
    const server = running();
    await expect(endTask(KEY, ann, failing(server, denied()))).rejects.toThrow(
      `Task ${KEY.taskId} is unchanged: your credentials may not change it. The act policy of the server allows it`,
    );
    expect(server.records.get(KEY.taskId)).toEqual(task());
  });

  test('leaves a task alone that is no longer in the status it was chosen by', async () => {
    const { context, records, did } = running();
    const answered = endTask(KEY, ann, context, ['input_required', 'waiting']);
    await expect(answered).rejects.toThrow('Not done: it is working by now');
    expect([records.get(KEY.taskId), did]).toEqual([task(), []]);
    // Answered between the read and the write.
    const asks = running(asking());
    const { store } = asks.context;
    const { applyBlind } = store;
    vi.spyOn(store, 'applyBlind').mockImplementationOnce((...change) => {
      asks.records.set(task({ round: 2 }));
      return applyBlind(...change);
    });
    await expect(endTask(KEY, ann, asks.context, ['input_required'])).rejects.toThrow('it is working by now');
    expect(asks.records.get(KEY.taskId)).toMatchObject({ status: 'working', round: 2 });
    expect(await endTask(KEY, ann, running(asking()).context, ['input_required'])).toMatchObject({ done: true });
  });

  test('names no attribute that holds payload: it goes with the record', async () => {
    const { context, records } = running(asking());
    await endTask(KEY, ann, context);
    const { asked, arguments: args } = asking();
    expect(records.get(KEY.taskId)).toMatchObject({ status, asked, arguments: args });
    expect(records.get(KEY.taskId)).not.toHaveProperty('due');
  });
});

test('a cancel names an operator to the client, a failure has its own reason', async () => {
  const [one, other] = [running(), running()];
  await cancelTask(KEY, ann, one.context);
  expect(one.records.get(KEY.taskId)).toMatchObject({ statusMessage: 'Cancelled by an operator' });
  await failTask(KEY, ann, other.context);
  expect(other.records.get(KEY.taskId)).toMatchObject({ failure: 'EndedByOperator' });
  expect(JSON.stringify(other.records.get(KEY.taskId)?.error)).not.toContain('INC-7');
});

test('a task whose tool is gone is ended all the same, with its run (row 23)', async () => {
  const { context, did } = operatorOn([task()], null);
  expect(await cancelTask(KEY, ann, context)).toMatchObject({ done: true });
  expect(did).toEqual(['applyBlind', 'stop']);
});

test('what is not there, and what another release wrote, is refused by name', async () => {
  const { context, records } = operatorOn();
  await expect(cancelTask(KEY, ann, context)).rejects.toThrow(`No task '${KEY.taskId}': it may have expired`);
  records.set(task({ version: 99 }));
  await expect(cancelTask(KEY, ann, context)).rejects.toThrow('was stored by another release of the server');
});
