import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readProgress, withAllProgress } from '../../../../functions/tasks/table/progress-item.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { fakeTable } from './fake-table.ts';

const T0 = 1_700_000_000_000;
const working = create(
  { owner: 'o', taskId: 't' },
  { tool: 'x', ttl: 60_000, timeout: 10_000, accepts: [], legacy: false },
  T0,
);
const completed = { ...working, taskId: 'u', status: 'completed' as const };

beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());

test('reports are read for tasks that work only; without any, nothing is read', async () => {
  const { db, asked, inputs } = fakeTable(() => ({}));
  expect(await withAllProgress(db, 't', [completed])).toEqual([completed]);
  expect(asked).toEqual([]);
  expect(await withAllProgress(db, 't', [working, completed])).toEqual([working, completed]);
  expect(inputs('BatchGet')[0]?.RequestItems?.t.Keys).toEqual([{ owner: 'progress#o', taskId: 't' }]);
});

test('tasks are shown without their reports if those cannot be read, and the log says so', async () => {
  const { db } = fakeTable(() => {
    throw Object.assign(new Error('planted text'), { name: 'Throttled' });
  });
  expect(await withAllProgress(db, 't', [working])).toEqual([working]);
  expect(await readProgress(db, 't', working)).toBeUndefined();
  const line = JSON.stringify({ event: 'progress_unread', error: 'Throttled' });
  expect(vi.mocked(console.error).mock.calls).toEqual([[line], [line]]);
});
