import { describe, expect, test, vi } from 'vitest';
import { SORT_KEYS } from '../../../../functions/tasks/attributes.ts';
import { newTaskKey, sessionPartition, shardOf } from '../../../../functions/tasks/ids.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { openTaskSlotStore } from '../../../../functions/tasks/table/open-task-slots.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { cancel } from '../../../../functions/tasks/transitions/end.ts';
import { memoryEngine, TABLE } from '../../../support/engine/memory.ts';
import { metered } from '../../../support/engine/units.ts';
import { conditionFailed } from './fake-table.ts';

const T0 = 1_700_000_000_000;
const EXPIRES = 1_800_000_000;
const session = { kind: 'anonymous', session: 's' } as const;
const owner = sessionPartition('s');
const { ofShard, full, createdWithin } = limits.openTaskSlots;
const NEW = { tool: 'x', ttl: 86_400_000, timeout: 3_600_000, accepts: [], legacy: true };

/** An owner whose tasks and slots are in a table in memory. */
function anOwner() {
  const clock = { now: T0 };
  const engine = memoryEngine(() => clock.now);
  const { dynamoDb, used } = metered(engine.dynamoDb, engine.table);
  const db = { ...dynamoDb };
  const store = openTaskSlotStore(db, TABLE);
  const newTask = () => create(newTaskKey(session, clock.now), NEW, clock.now);
  const take = (task: TaskRecord, most: number) => store.takeSlot(task, most, clock.now, EXPIRES);
  const slots = (shard: number): string[] => {
    const item = engine.table.get({ owner: { S: owner }, taskId: { S: `${SORT_KEYS.slots}${shard}` } }, {}, false);
    return [...((item?.taken?.SS as string[] | undefined) ?? [])];
  };
  return {
    ...{ ...engine, clock, db, used, store, newTask, take, slots },
    /** A new task in a slot, if there is one. */
    async begin(most: number, task = newTask()): Promise<TaskRecord | undefined> {
      if (!(await take(task, most))) return undefined;
      await engine.store.create(task);
      return task;
    },
    async end(...tasks: readonly (TaskRecord | undefined)[]): Promise<void> {
      for (const task of tasks) if (task) await engine.store.apply(task, cancel(clock.now));
    },
    taken: () => Array.from({ length: 60 }, (_, shard) => slots(shard).length).reduce((sum, some) => sum + some),
  };
}
type Owner = ReturnType<typeof anOwner>;

async function begun(one: Owner, count: number, most: number): Promise<TaskRecord[]> {
  const tasks: TaskRecord[] = [];
  for (let i = 0; i < count; i++) tasks.push((await one.begin(most)) as TaskRecord);
  expect(tasks.filter((task) => task === undefined)).toEqual([]);
  return tasks;
}
/** A task whose own shard is this one. */
function inShard(one: Owner, shard: number, shards: number): TaskRecord {
  for (;;) {
    const task = one.newTask();
    if (shardOf(task.taskId, shards) === shard) return task;
  }
}

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

  test('gives up after eight tries, so that creates at the same time cannot keep it', async () => {
    const one = anOwner();
    const update = vi.spyOn(one.db, 'update').mockImplementation(() => Promise.reject(conditionFailed()));
    await expect(one.take(one.newTask(), 10)).rejects.toMatchObject({
      code: -32603,
      message: 'Too many calls at once: try again',
    });
    expect(update).toHaveBeenCalledTimes(8);
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

  test('is searched again once a task of it has ended; of others nothing is written', async () => {
    const one = anOwner();
    await begun(one, 2, 2);
    await one.store.slotFreed(owner, T0);
    expect(note(one)).toBeUndefined();
    await one.take(one.newTask(), 2);
    await one.store.slotFreed(owner, T0 + 1);
    const ended = note(one);
    expect(ended).toMatchObject({ open: { N: '0' }, until: { N: '0' } });
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
