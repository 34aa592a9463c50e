import { expect, test, vi } from 'vitest';
import { cancelTask } from '../../../../functions/mcp/task/cancel-task.ts';
import { newTaskKey, type Principal } from '../../../../functions/tasks/ids.ts';
import { cancel, create } from '../../../../functions/tasks/transitions.ts';
import { applied } from '../../tasks/applied.ts';
import { fakeServer } from '../support/fake-server.ts';

const T0 = 1_700_000_000_000;
const anonymous: Principal = { kind: 'anonymous' };
const task = { tool: 'required', ttl: 600_000, timeout: 300_000, accepts: [], legacy: false };

function world() {
  const fake = fakeServer();
  const record = create(newTaskKey(anonymous, T0), task, T0);
  fake.records.set(record.taskId, record);
  return { ...fake, record };
}

test('the record is fenced before the work is stopped: a run cannot finish in between (C-25)', async () => {
  const { server, did, record } = world();
  const { won } = await cancelTask(anonymous, record.taskId, server);
  expect(won).toBe(true);
  expect(did.filter((what) => what === 'apply' || what === 'stop')).toEqual(['apply', 'stop']);
});

test('a repeated cancel stops work that the first one left running (C-27)', async () => {
  const { server, did, records, record } = world();
  const cancelled = applied(record, cancel(T0));
  if (cancelled === undefined) throw new Error('not cancelled');
  records.set(record.taskId, cancelled);
  const { won } = await cancelTask(anonymous, record.taskId, server);
  expect(won).toBe(false);
  expect(did).toContain('stop');
  expect(did).not.toContain('apply');
});

test('what cannot be done after a cancel is logged, and the task stays cancelled (C-25)', async () => {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  const { server, records } = fakeServer();
  const ann: Principal = { kind: 'verified', key: 'ann' };
  const record = create(newTaskKey(ann, T0), task, T0);
  records.set(record.taskId, record);
  server.workflow.stop = () => Promise.reject(Object.assign(new Error('planted'), { name: 'Denied' }));
  server.store.slotFreed = () => Promise.reject(new Error('no'));
  expect((await cancelTask(ann, record.taskId, server)).won).toBe(true);
  const lines = logged.mock.calls.map(([line]) => JSON.parse(line));
  expect(lines[0]).toEqual({ event: 'stop_failed', tool: 'required', error: 'Denied' });
  expect(lines[1]).toMatchObject({ event: 'unexpected_error', where: 'open-task slots' });
  logged.mockRestore();
});
