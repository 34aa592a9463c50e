import { expect, test, vi } from 'vitest';
import { runContext } from '../../../functions/tool/run-context.ts';

// What it replaces may already be loaded: test files share a process.
vi.hoisted(() => vi.resetModules());

const seen = vi.hoisted(() => ({ record: undefined as object | undefined }));
vi.mock('../../../functions/tasks/table/store.ts', () => ({
  runStore: () => ({
    readStatus: async () => seen.record,
  }),
}));

vi.stubEnv('AWS_REGION', 'eu-west-1');
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
  expect(await runContext.alive(task)).toBe(alive);
});
