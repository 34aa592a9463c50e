import { expect, test, vi } from 'vitest';
import { stopIfOver } from '../../../../functions/engine/stop.ts';
import { cancelTask } from '../../../../functions/mcp/methods/tasks-cancel.ts';
import { newTaskKey, type Principal } from '../../../../functions/tasks/ids.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { cancel } from '../../../../functions/tasks/transitions/end.ts';
import { applied } from '../../tasks/applied.ts';
import { fakeServer } from '../support/fake-server.ts';

const T0 = 1_700_000_000_000;
const anonymous: Principal = { kind: 'anonymous' };
const ann: Principal = { kind: 'verified', key: 'ann' };
const task = { tool: 'required', ttl: 600_000, timeout: 300_000, accepts: [], legacy: false };

function setup(principal = anonymous, over: Partial<TaskRecord> = {}, now = T0) {
  const fake = fakeServer({ now: () => now });
  const record = { ...create(newTaskKey(principal, T0), task, T0), ...over };
  fake.records.set(record);
  return { ...fake, record };
}

test('the record is fenced before the work is stopped: a run cannot finish in between (C-25)', async () => {
  const { server, did, record } = setup();
  const { won } = await cancelTask(anonymous, record.taskId, server);
  expect(won).toBe(true);
  expect(did.filter((what) => what === 'apply' || what === 'stop')).toEqual(['apply', 'stop']);
});

test('a repeated cancel stops work that the first one left running (C-27)', async () => {
  const { server, did, records, record } = setup();
  const cancelled = applied(record, cancel(T0));
  if (cancelled === undefined) throw new Error('not cancelled');
  records.set(cancelled);
  const { won } = await cancelTask(anonymous, record.taskId, server);
  expect(won).toBe(false);
  expect(did).toContain('stop');
  expect(did).not.toContain('apply');
});

test('what cannot be done after a cancel is logged, and the task stays cancelled (C-25)', async () => {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  const { server, records } = fakeServer();
  const record = create(newTaskKey(ann, T0), task, T0);
  records.set(record);
  server.workflow.stop = () => Promise.reject(Object.assign(new Error('planted'), { name: 'Denied' }));
  server.store.slotFreed = () => Promise.reject(new Error('no'));
  expect((await cancelTask(ann, record.taskId, server)).won).toBe(true);
  const lines = logged.mock.calls.map(([line]) => JSON.parse(line));
  expect(lines[0]).toEqual({ event: 'stop_failed', tool: 'required', error: 'Denied' });
  expect(lines[1]).toMatchObject({ event: 'unexpected_error', where: 'open-task slots' });
  logged.mockRestore();
});

test('a cancel of a completed task stops no run and frees no slot (C-27)', async () => {
  const { server, did, record } = setup(ann, { status: 'completed', result: '1' });
  const freed = vi.spyOn(server.store, 'slotFreed');
  expect(await cancelTask(ann, record.taskId, server)).toEqual({ record, won: false });
  expect([did, freed.mock.calls]).toEqual([['get'], []]);
});

test.each([
  ['frees the slot of its owner', ann, 1],
  ['frees nothing for a caller without slots', anonymous, 0],
])('a cancel %s (C-37)', async (_name, principal, times) => {
  const { server, record } = setup(principal);
  const freed = vi.spyOn(server.store, 'slotFreed');
  await cancelTask(principal, record.taskId, server);
  expect(freed).toHaveBeenCalledTimes(times);
});

test('of two cancels at once only one has won; the other stops the run, too (C-27)', async () => {
  const { server, did, records, record } = setup(anonymous, {}, T0 + 5);
  server.store.apply = async () => {
    records.set(applied(record, cancel(T0 + 4)) as TaskRecord);
    return undefined;
  };
  expect((await cancelTask(anonymous, record.taskId, server)).won).toBe(false);
  expect(did).toContain('stop');
});

test('a cancel after the deadline has not won: the task has failed', async () => {
  const { server, record } = setup(anonymous, {}, T0 + task.timeout + limits.lateWrite + 1);
  const { record: ended, won } = await cancelTask(anonymous, record.taskId, server);
  expect([ended.status, won]).toEqual(['failed', false]);
});

test('the run of a tool that is gone is stopped, too (row 23)', async () => {
  const { server, did, record } = setup(anonymous, { tool: 'gone' });
  expect((await cancelTask(anonymous, record.taskId, server)).won).toBe(true);
  expect(did).toContain('stop');
});

test('a task that is gone once it was started stops nothing', async () => {
  const { server, did, records, record } = setup();
  records.clear();
  await stopIfOver(record, server);
  expect(did).toEqual(['get']);
});
