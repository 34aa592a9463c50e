import { describe, expect, test, vi } from 'vitest';
import { SORT_KEYS } from '../../../../functions/tasks/attributes.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import { fullOwnerNotes } from '../../../../functions/tasks/table/full-owner.ts';
import { TABLE } from '../../../support/engine/memory.ts';
import { anOwner, begun, EXPIRES, inShard, type Owner, owner, T0 } from './slot-owner.ts';

const { ofShard, full } = limits.openTaskSlots;

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

  test('is searched once by creates that come at the same moment', async () => {
    const one = anOwner();
    const tasks = await begun(one, 100, 100);
    // Less than half of what they read if each of them searches.
    const most = (30 * 104) / 2;
    const atOnce = () => Promise.all(Array.from({ length: 30 }, () => one.begin(100)));
    one.used.read = 0;
    expect((await atOnce()).filter((task) => task !== undefined)).toEqual([]);
    expect(one.used.read).toBeLessThan(most);
    one.clock.now += full;
    await one.end(...tasks.slice(0, 30));
    one.used.read = 0;
    expect((await atOnce()).filter((task) => task !== undefined)).toHaveLength(30);
    expect(one.used.read).toBeLessThan(most);
  });

  test('is searched by another create at once after one that failed, a second after one that died', async () => {
    const one = anOwner();
    const [task] = await begun(one, 2, 2);
    await one.end(task);
    const fails = () => vi.spyOn(one.db, 'batchGet').mockRejectedValueOnce(new Error('failed'));
    fails();
    await expect(one.take(one.newTask(), 2)).rejects.toThrow('failed');
    fails();
    const update = one.db.update;
    const dies = vi.spyOn(one.db, 'update').mockImplementation(async (input) => {
      if (input.UpdateExpression?.startsWith('REMOVE')) throw new Error('died');
      return update(input);
    });
    await expect(one.take(one.newTask(), 2)).rejects.toThrow('failed');
    dies.mockRestore();
    // Nor does one whose clock is an hour ahead keep others from it for an hour.
    one.clock.now -= 3_600_000;
    expect(await one.take(one.newTask(), 2)).toBe(true);
    const next = anOwner();
    const [first] = await begun(next, 2, 2);
    await next.end(first);
    await fullOwnerNotes(next.db, TABLE).searchAlone(owner, T0, EXPIRES);
    const pauses: number[] = [];
    const wait = async (ms: number) => void pauses.push(ms);
    expect(await next.store.takeSlot(next.newTask(), 2, T0, EXPIRES, undefined, wait)).toBe(true);
    const all = pauses.reduce((sum, ms) => sum + ms);
    expect(all).toBeGreaterThan(1_000);
    expect(all).toBeLessThan(1_300);
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
