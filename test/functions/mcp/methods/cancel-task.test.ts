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

test('a stop that is accepted ends the check by the sweep, any other does not (C-27, row 15)', async () => {
  const { server, record, records } = setup();
  server.workflow.stop = async () => {};
  await cancelTask(anonymous, record.taskId, server);
  expect(records.get(record.taskId)).not.toHaveProperty('due');
  const other = setup();
  vi.spyOn(console, 'error').mockImplementation(() => {});
  other.server.workflow.stop = () => Promise.reject(Object.assign(new Error('full'), { name: 'ThrottlingException' }));
  await cancelTask(anonymous, other.record.taskId, other.server);
  const { due } = other.record;
  expect(other.records.get(other.record.taskId)).toMatchObject({
    status: 'cancelled',
    due,
    dueAt: T0 + limits.firstDue,
  });
});

test('a cancel that finds no run leaves it to the sweep: one may begin at any moment (row 15)', async () => {
  const { server, record, records, did } = setup();
  await cancelTask(anonymous, record.taskId, server);
  expect(did).toContain('stop');
  const { due } = record;
  expect(records.get(record.taskId)).toMatchObject({ status: 'cancelled', due, dueAt: T0 + limits.firstDue });
});

test('an answer that comes before a cancel may have begun a run: it is stopped, or due (row 15)', async () => {
  const asked = JSON.stringify({ inputRequests: { a: { method: 'roots/list' } } });
  const waiting = { status: 'input_required', asked, accepts: ['roots/list'] } as const;
  const asks = setup(anonymous, waiting);
  await cancelTask(anonymous, asks.record.taskId, asks.server);
  expect(asks.did).not.toContain('stop');
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const { server, record, records } = setup(anonymous, waiting);
  const { apply } = server.store;
  server.store.apply = (key, change) => {
    records.set({ ...record, status: 'working', round: 2 });
    return apply(key, change);
  };
  server.workflow.stop = () => Promise.reject(Object.assign(new Error('full'), { name: 'ThrottlingException' }));
  await cancelTask(anonymous, record.taskId, server);
  const { due } = record;
  expect(records.get(record.taskId)).toMatchObject({ status: 'cancelled', due, dueAt: T0 + limits.firstDue });
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

test('of two cancels at once only one has won, and it stops the run (C-27)', async () => {
  const { server, did, records, record } = setup(anonymous, {}, T0 + 5);
  server.store.apply = async () => {
    records.set(applied(record, cancel(T0 + 4)) as TaskRecord);
    return undefined;
  };
  expect((await cancelTask(anonymous, record.taskId, server)).won).toBe(false);
  expect(did).not.toContain('stop');
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
