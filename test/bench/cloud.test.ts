import { expect, test } from 'vitest';
import { useAssembly } from '../support/cloud.ts';
import { measureLoad, measureStart } from './cloud/measure.ts';

const assembly = useAssembly('test/bench/cloud/app.ts');

test('each row has as many tasks as their times per second say, and no time of nothing', async () => {
  const rows = await measureLoad({ assembly, callers: [1, 4], forMs: 500, warmTasks: 4 });
  expect(rows.map(({ callers, durable }) => [callers, durable])).toEqual([
    [1, true],
    [4, true],
  ]);
  for (const { tasks, tasksPerSecond, create, poll, task, cpuMsPerTask } of rows) {
    expect(tasks).toBeGreaterThan(0);
    // The last tasks end after the half second.
    expect(tasksPerSecond).toBeLessThanOrEqual(2 * tasks);
    for (const { p50, p95, p99 } of [create, poll, task]) {
      expect(p50).toBeGreaterThan(0);
      expect(p95).toBeGreaterThanOrEqual(p50);
      expect(p99).toBeGreaterThanOrEqual(p95);
    }
    // A task is a call and at least one poll.
    expect(task.p50).toBeGreaterThan(create.p50);
    expect(cpuMsPerTask).toBeGreaterThan(0);
  }
});

test('a start ends with its first task, after the API listens', async () => {
  const { listens, firstTask } = await measureStart({ assembly }, 1);
  expect(listens.p50).toBeGreaterThan(0);
  expect(firstTask.p50).toBeGreaterThan(listens.p50);
});
