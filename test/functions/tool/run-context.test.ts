import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { reportProgress } from '../../../functions/tool/progress.ts';
import { runContext } from '../../../functions/tool/run-context.ts';

// What it replaces may already be loaded: test files share a process.
vi.hoisted(() => vi.resetModules());

const reports = vi.hoisted(() => [] as { readonly task: string; readonly report: unknown }[]);
vi.mock('../../../functions/tasks/table/store.ts', () => ({
  runStore: () => ({
    readStatus: async () => ({ status: 'working', round: 1 }),
    report: async ({ taskId }: { taskId: string }, report: unknown) => reports.push({ task: taskId, report }) > 0,
  }),
}));

vi.stubEnv('AWS_REGION', 'eu-west-1');
let tests = 0;
const taskOf = (name: string) => ({
  ...{ taskId: `${tests} ${name}`, owner: 'o', table: 'T', results: 'B' },
  ...{ round: 1, attempt: 0, deadline: 1 },
});
const written = (name: string) =>
  reports.filter(({ task }) => task === taskOf(name).taskId).map(({ report }) => report);

beforeEach(() => {
  vi.useFakeTimers();
  tests++;
});
afterEach(() => vi.useRealTimers());

describe('reports of tasks that take turns in one container', () => {
  test('each task reports at most once a second', async () => {
    for (let ms = 0; ms < 3_000; ms += 100) {
      for (const name of ['a', 'b', 'c']) await runContext.progress(taskOf(name), `${ms}`, {});
      vi.advanceTimersByTime(100);
    }
    for (const name of ['a', 'b', 'c']) {
      expect(written(name)).toEqual([{ message: '0' }, { message: '1000' }, { message: '2000' }]);
    }
  });

  test('another attempt of a task reports at once', async () => {
    await runContext.progress(taskOf('a'), 'first', {});
    await runContext.progress({ ...taskOf('a'), attempt: 1 }, 'second', {});
    expect(written('a')).toEqual([{ message: 'first' }, { message: 'second' }]);
  });
});

test('a run on Express that starts again has no amount of the lost run, and reports at once', async () => {
  await runContext.progress({ ...taskOf('a'), run: 'lost' }, 'nine of ten', { progress: 9, total: 10 });
  await runContext.progress({ ...taskOf('a'), run: 'again' }, 'begins', {});
  expect(written('a')).toEqual([{ message: 'nine of ten', progress: 9, total: 10 }, { message: 'begins' }]);
});

test('a message alone leaves the amount of the same run as it is', async () => {
  await runContext.progress(taskOf('a'), 'one of two', { progress: 1, total: 2 });
  vi.advanceTimersByTime(1_000);
  await runContext.progress(taskOf('a'), 'still', {});
  await runContext.progress({ ...taskOf('a'), round: 2 }, 'other round', {});
  // The record is in round 1.
  expect(written('a')).toEqual([
    { message: 'one of two', progress: 1, total: 2 },
    { message: 'still', progress: 1, total: 2 },
  ]);
});

test('reportProgress writes the report of a task, and nothing for a direct call', async () => {
  const before = reports.length;
  expect(await reportProgress(undefined, 'x', { progress: 1 })).toBe(true);
  expect(reports).toHaveLength(before);
  expect(await reportProgress(taskOf('a'), 'half', { progress: 1, total: 2 })).toBe(true);
  expect(await reportProgress({ ...taskOf('b'), round: 2 }, 'other round')).toBe(false);
  expect([written('a'), written('b')]).toEqual([[{ message: 'half', progress: 1, total: 2 }], []]);
});
