import { expect, test } from 'vitest';
import { tasksToRead } from '../../../../functions/mcp/stream/tasks-to-read.ts';
import { limits } from '../../../../functions/tasks/limits.ts';

const { tasks, notes } = limits.sessionStream;
const named = (name: string, count: number) => Array.from({ length: count }, (_, n) => `${name}${n}`);
const waiting = named('waits', 60);

test('tasks that wait to be asked are read first, and then those that were asked', () => {
  expect(tasksToRead(waiting, named('asked', 300), false, 0)).toEqual(waiting.slice(0, tasks));
  expect(tasksToRead(['a', 'b'], ['c', 'c', 'a'], false, 0)).toEqual(['a', 'b', 'c']);
});

test.each([1, 7, 50, 299, notes])('with full notes, each of %i asked tasks is read within 12 s', (count) => {
  const asked = named('asked', count);
  const read = new Set<string>();
  for (let second = 0; second < 12; second++) {
    const now = tasksToRead(waiting, asked, true, 1_700_000_000_000 + second * 1_000);
    expect(now.length).toBe(tasks);
    expect(now.filter((one) => one.startsWith('waits')).length).toBeGreaterThanOrEqual(tasks / 2);
    for (const one of now) read.add(one);
  }
  expect(asked.filter((one) => !read.has(one))).toEqual([]);
});
