import { describe, expect, test, vi } from 'vitest';
import { SORT_KEYS } from '../../../../functions/tasks/attributes.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { cancel } from '../../../../functions/tasks/transitions/end.ts';
import { stopped, untilStopped } from '../../../../functions/tasks/transitions/run.ts';
import { anOwner, begun, EXPIRES, inShard, type Owner, owner, T0 } from './slot-owner.ts';

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
    // The condition that failed on the full item, and the note.
    expect(one.used.write).toBe(2);
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

describe('an owner who was found full (C-37)', () => {
  const note = (one: Owner) => one.table.get({ owner: { S: owner }, taskId: { S: SORT_KEYS.full } }, {}, false);

  test('is refused after one small read, until two seconds have passed', async () => {
    const one = anOwner();
    await begun(one, 2, 2);
    expect(await one.take(one.newTask(), 2)).toBe(false);
    expect(note(one)).toMatchObject({
      open: { N: '2' },
      until: { N: String(T0 + full) },
      expiresAt: { N: String(EXPIRES) },
    });
    const before = { ...one.used };
    one.clock.now += full - 1;
    expect(await one.take(one.newTask(), 2)).toBe(false);
    expect(one.used).toEqual({ read: before.read + 1, write: before.write });
    const batchGet = vi.spyOn(one.db, 'batchGet');
    one.clock.now += 1;
    expect(await one.take(one.newTask(), 2)).toBe(false);
    expect(batchGet).toHaveBeenCalledTimes(1);
  });

  test('is searched by calls of the same moment if they may; a refused one notes nothing', async () => {
    const one = anOwner();
    await begun(one, 100, 100);
    one.used.read = 0;
    let left = 3;
    const maySearch = async () => left-- > 0;
    const take = () => one.store.takeSlot(one.newTask(), 100, T0, EXPIRES, maySearch);
    const none = await Promise.all(Array.from({ length: 20 }, take));
    expect(none).toEqual(Array(20).fill(false));
    expect(one.used.read).toBeLessThan(3 * 105 + 17 * 25);
    const two = anOwner();
    await begun(two, 100, 100);
    expect(await two.store.takeSlot(two.newTask(), 100, T0, EXPIRES, async () => false)).toBe(false);
    expect(note(two)).toBeUndefined();
  });

  test('is full for 2 s only, also if a container whose clock is an hour ahead found it full', async () => {
    const one = anOwner();
    const tasks = await begun(one, 2, 2);
    one.clock.now += 3_600_000;
    expect(await one.take(one.newTask(), 2)).toBe(false);
    one.clock.now -= 3_600_000;
    await one.end(...tasks);
    expect(await one.take(one.newTask(), 2)).toBe(true);
  });

  test('is searched again once a task of it has ended; of others nothing is written', async () => {
    const one = anOwner();
    await begun(one, 2, 2);
    await one.store.slotFreed(owner, T0);
    expect(note(one)).toBeUndefined();
    await one.take(one.newTask(), 2);
    await one.store.slotFreed(owner, T0 + 1);
    const ended = note(one);
    expect(ended).toMatchObject({ open: { N: '0' }, until: { N: String(T0 + 1 + full) } });
    await one.store.slotFreed(owner, T0 + 1_500);
    expect(note(one)).toEqual(ended);
  });

  test('counts as full once a search saw a hundred open tasks: creates at once do not all search', async () => {
    const one = anOwner();
    const most = 400;
    const tasks = await begun(one, most, most);
    const own = inShard(one, 0, most / ofShard);
    // The last slot that a search from the first shard on comes to.
    const last = one.slots(most / ofShard - 1)[0]?.slice(0, 36) ?? '';
    await one.end(tasks.find(({ taskId }) => taskId.endsWith(last)));
    expect(await one.take(own, most)).toBe(true);
    const read = one.used.read;
    expect(await one.take(one.newTask(), most)).toBe(false);
    expect(one.used.read).toBe(read + 1);
    one.clock.now += full;
    // The oldest task may be the one that has ended.
    await one.end(tasks.find(({ taskId }) => !taskId.endsWith(last)));
    expect(await one.take(one.newTask(), most)).toBe(true);
  });
});
