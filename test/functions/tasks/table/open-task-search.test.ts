import { describe, expect, test, vi } from 'vitest';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { TABLE } from '../../../support/engine/memory.ts';
import { conditionFailed } from './fake-table.ts';
import { anOwner, begun, inShard, T0 } from './slot-owner.ts';

const { ofShard, createdWithin } = limits.openTaskSlots;

describe('a search for tasks that have ended (C-37)', () => {
  test('reads the shard of the task first, and frees each slot there', async () => {
    const one = anOwner();
    const tasks = await begun(one, 40, 40);
    const shard = 1;
    const there = tasks.filter(({ taskId }) => one.slots(shard).some((slot) => taskId.endsWith(slot.slice(0, 36))));
    await one.end(...tasks);
    const batchGet = vi.spyOn(one.db, 'batchGet');
    expect(await one.take(inShard(one, shard, 2), 40)).toBe(true);
    const asked = batchGet.mock.calls.map(([{ RequestItems }]) =>
      RequestItems?.[TABLE]?.Keys?.map(({ taskId }) => taskId),
    );
    expect(asked.map((ids) => ids?.toSorted())).toEqual([there.map(({ taskId }) => taskId).toSorted()]);
    expect(one.slots(shard)).toHaveLength(1);
    expect(one.slots(0)).toHaveLength(20);
  });

  test('uses the room of another shard before it reads the tasks there', async () => {
    const one = anOwner();
    for (let i = 0; i < ofShard; i++) await one.begin(40, inShard(one, 0, 2));
    const batchGet = vi.spyOn(one.db, 'batchGet');
    expect(await one.take(inShard(one, 0, 2), 40)).toBe(true);
    expect(batchGet).toHaveBeenCalledTimes(1);
    expect(one.slots(1)).toHaveLength(1);
  });

  test.each([
    ['once, of an owner with few', 100],
    ['at half the price and again exactly, of an owner with more', 120],
  ])('reads each shard %s', async (_how, most) => {
    const one = anOwner();
    await begun(one, most, most);
    const batchGet = vi.spyOn(one.db, 'batchGet');
    expect(await one.take(one.newTask(), most)).toBe(false);
    const reads = batchGet.mock.calls.map(([{ RequestItems }]) => RequestItems?.[TABLE]);
    const exact = reads.filter((read) => read?.ConsistentRead === true).flatMap((read) => read?.Keys ?? []);
    expect(new Set(exact.map(({ taskId }) => taskId)).size).toBe(most);
    expect(exact).toHaveLength(most);
    expect(reads[0]?.ConsistentRead).toBe(most === 100);
  });

  test('gives up after twelve tries, so that creates at the same time cannot keep it', async () => {
    const one = anOwner();
    const update = vi.spyOn(one.db, 'update').mockImplementation(() => Promise.reject(conditionFailed()));
    await expect(one.take(one.newTask(), 10)).rejects.toMatchObject({
      code: -32603,
      message: 'Too many calls at once: try again',
    });
    // A slot, and then the right to search.
    expect(update).toHaveBeenCalledTimes(24);
  });

  test('counts a task that throttling leaves out as open', async () => {
    const one = anOwner();
    const tasks = await begun(one, 3, 3);
    await one.end(...tasks);
    one.clock.now += 200_000;
    const { batchGet } = one.db;
    one.db.batchGet = async (input) => {
      const [kept, ...rest] = input.RequestItems?.[TABLE]?.Keys ?? [];
      const got = await batchGet({ RequestItems: { [TABLE]: { ...input.RequestItems?.[TABLE], Keys: rest } } });
      return { ...got, UnprocessedKeys: { [TABLE]: { Keys: kept ? [kept] : [] } } };
    };
    expect(await one.take(one.newTask(), 3)).toBe(true);
    expect(one.taken()).toBe(2);
  });

  test('frees the slot of a record that this release does not understand', async () => {
    const one = anOwner();
    const [task] = await begun(one, 1, 1);
    one.records.set({ ...(task as TaskRecord), version: 99 });
    expect(await one.take(one.newTask(), 1)).toBe(true);
  });

  test('frees the earlier slot of a task that took a second one', async () => {
    const one = anOwner();
    const task = one.newTask();
    expect(await one.take(task, 2)).toBe(true);
    one.clock.now += 120_000;
    expect(await one.begin(2, task)).toBeDefined();
    expect(one.taken()).toBe(2);
    expect(await one.begin(2)).toBeDefined();
    expect(await one.begin(2)).toBeUndefined();
  });

  test('frees the slot of a task that was not created within a minute or two', async () => {
    for (const [after, isOver] of [
      [createdWithin + 60_000, false],
      [createdWithin + 60_001, true],
    ] as const) {
      const one = anOwner();
      await one.take(one.newTask(), 1);
      one.clock.now = Math.floor(T0 / 60_000) * 60_000 + after;
      expect(await one.take(one.newTask(), 1)).toBe(isOver);
    }
  });
});
