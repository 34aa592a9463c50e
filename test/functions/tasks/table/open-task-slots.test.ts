import { describe, expect, test } from 'vitest';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { cancel } from '../../../../functions/tasks/transitions/end.ts';
import { stopped, untilStopped } from '../../../../functions/tasks/transitions/run.ts';
import { anOwner, begun, owner, T0 } from './slot-owner.ts';

const { ofShard, full } = limits.openTaskSlots;

describe('an owner has as many slots as it may have open tasks, over all shards (C-37)', () => {
  test.each([1, ofShard - 1, ofShard, ofShard + 1, 100, 130])('%i', async (most) => {
    const one = anOwner();
    const tasks = await begun(one, most, most);
    expect(await one.begin(most)).toBeUndefined();
    expect(one.taken()).toBe(most);
    // Each of them comes back, wherever it is, and only once.
    for (const task of [tasks[0], tasks.at(-1), tasks[Math.floor(most / 2)]].slice(0, most)) {
      await one.end(task);
      one.clock.now += full;
      expect(await one.begin(most)).toBeDefined();
      one.clock.now += full;
      expect(await one.begin(most)).toBeUndefined();
    }
    expect(one.taken()).toBe(most);
  });

  test('also when more creates than slots come at once', async () => {
    const one = anOwner();
    const got = await Promise.allSettled(Array.from({ length: 90 }, () => one.begin(45)));
    expect(got.filter(({ status }) => status === 'rejected')).toEqual([]);
    expect(got.filter((each) => each.status === 'fulfilled' && each.value !== undefined)).toHaveLength(45);
    expect(one.taken()).toBe(45);
  });

  test('a limit that was lowered holds in each shard that is left', async () => {
    const one = anOwner();
    const tasks = await begun(one, 60, 60);
    expect(await one.begin(30)).toBeUndefined();
    await one.end(...tasks);
    one.clock.now += full;
    const again = [];
    for (let task = await one.begin(30); task !== undefined; task = await one.begin(30)) again.push(task);
    expect(again).toHaveLength(30);
    expect(one.slots(0).length + one.slots(1).length).toBe(30);
  });

  test('a cancelled task keeps its slot until its run is stopped (row 15)', async () => {
    const one = anOwner();
    const [task] = await begun(one, 2, 2);
    if (task === undefined) throw new Error('no task');
    const change = cancel(T0);
    expect(await one.store.apply(task, untilStopped(task, change, T0))).toMatchObject({ status: 'cancelled' });
    one.clock.now += full;
    expect(await one.begin(2)).toBeUndefined();
    expect(await one.store.applyBlind(task, stopped)).toBe(true);
    one.clock.now += full;
    expect(await one.begin(2)).toBeDefined();
  });

  test('a second call for the same task takes no second slot', async () => {
    const one = anOwner();
    const task = one.newTask();
    for (let i = 0; i < 3; i++) expect(await one.take(task, 100)).toBe(true);
    expect(one.taken()).toBe(1);
  });
});

describe('a create costs few units', () => {
  test('an item of slots is below 1 KB, so that each write of it takes one unit', async () => {
    const one = anOwner();
    await begun(one, ofShard, ofShard);
    one.used.write = 0;
    expect(await one.take(one.newTask(), ofShard)).toBe(false);
    // The condition that failed on the full item, the note of the search, and its end.
    expect(one.used.write).toBe(3);
  });

  test('of an owner with few open tasks: hardly more than one write and three read units', async () => {
    const one = anOwner();
    let open: TaskRecord[] = [];
    const [written, read] = [[] as number[], [] as number[]];
    for (let i = 0; i < 1_000; i++) {
      const before = { ...one.used };
      const task = one.newTask();
      expect(await one.take(task, 100)).toBe(true);
      written.push(one.used.write - before.write);
      read.push(one.used.read - before.read);
      await one.store.slotFreed(owner, one.clock.now);
      one.records.set(task);
      open.push(task);
      if (open.length === 10) {
        for (const { taskId } of open)
          one.records.set({ ...(one.records.get(taskId) as TaskRecord), status: 'completed' });
        open = [];
      }
      one.clock.now += 60_000;
    }
    const mean = (units: readonly number[]) => units.reduce((sum, each) => sum + each, 0) / units.length;
    expect(mean(written)).toBeLessThan(1.25);
    expect(mean(read)).toBeLessThan(3);
  });

  test('of an owner without a free slot: no more read units than docs/limits.md says', async () => {
    const one = anOwner();
    await begun(one, 100, 100);
    one.used.read = 0;
    expect(await one.take(one.newTask(), 100)).toBe(false);
    expect(one.used.read).toBeLessThanOrEqual(105);
  });
});
