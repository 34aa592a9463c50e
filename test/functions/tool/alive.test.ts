import { expect, test, vi } from 'vitest';
import { runContext } from '../../../functions/tool/run-context.ts';

// What it replaces may already be loaded: test files share a process.
vi.hoisted(() => vi.resetModules());

const seen = vi.hoisted(() => ({
  record: undefined as object | undefined,
  kept: undefined as string | undefined,
  mayRead: true,
}));
vi.mock('../../../functions/tasks/table/store.ts', () => ({
  runStore: () => ({
    readStatus: async () => seen.record,
    recall: async () => (seen.mayRead ? seen.kept : Promise.reject(denied)),
    async remember(_run: unknown, memory: string, before?: string | null) {
      if (before !== undefined && (before ?? undefined) !== seen.kept) return false;
      seen.kept = memory;
      return true;
    },
  }),
}));

const denied = Object.assign(new Error('denied'), { name: 'AccessDeniedException' });
vi.spyOn(console, 'error').mockImplementation(() => {});
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

test('a run recalls what an earlier attempt has kept beside the record', async () => {
  seen.kept = '{"n":2}';
  expect(await runContext.recall(task)).toBe('{"n":2}');
});

test('a run stores in place of what it has seen, and gets what another run has stored since', async () => {
  seen.record = { status: 'working', round: 2 };
  seen.kept = undefined;
  expect(await runContext.remember(task, '{"n":1}', undefined)).toBe(true);
  expect(await runContext.remember(task, '{"n":2}', undefined)).toBe('{"n":1}');
  expect(await runContext.remember(task, '{"n":2}', '{"n":1}')).toBe(true);
  // The same write again, as its answer was lost.
  expect(await runContext.remember(task, '{"n":2}', '{"n":1}')).toBe(true);
  expect(seen.kept).toBe('{"n":2}');
});

test('a run whose role may not read stores over what it cannot see', async () => {
  seen.record = { status: 'working', round: 2 };
  seen.kept = '{"n":1}';
  seen.mayRead = false;
  expect(await runContext.remember(task, '{"n":2}', undefined)).toBe(true);
  expect(seen.kept).toBe('{"n":2}');
});
