import { expect, test, vi } from 'vitest';
import { recordHost } from '../../../functions/tool/host.ts';

const seen = vi.hoisted(() => ({ record: undefined as object | undefined }));
vi.mock('../../../functions/tasks/store.ts', () => ({ runStore: () => ({ glimpse: async () => seen.record }) }));

const task = { taskId: 't', owner: 'o', table: 'T', results: 'B', round: 2, attempt: 0, deadline: 1 };

test.each([
  [true, { status: 'working', round: 2 }],
  [false, { status: 'working', round: 3 }],
  [false, { status: 'working', round: 1 }],
  [false, { status: 'cancelled', round: 2 }],
  [false, { status: 'input_required', round: 2 }],
  [false, undefined],
])('a run of round 2 is alive: %s, where the record is %j', async (alive, record) => {
  seen.record = record;
  expect(await recordHost.alive(task)).toBe(alive);
});

test('a run recalls what was kept in its round, and nothing of another one', async () => {
  seen.record = { status: 'working', round: 2, memory: '{"n":1}', memoryRound: 2 };
  expect(await recordHost.recall(task)).toBe('{"n":1}');
  seen.record = { status: 'working', round: 2, memory: '{"n":1}', memoryRound: 1 };
  expect(await recordHost.recall(task)).toBeUndefined();
});
