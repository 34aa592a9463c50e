import { describe, expect, test } from 'vitest';
import { Unavailable } from '../../../functions/tasks/errors.ts';
import { cancel } from '../../../functions/tasks/transitions/end.ts';
import type { Referee } from '../referee.ts';
import { newOwner, newTask, now } from '../tasks.ts';

const expiresAt = Math.ceil(now / 1_000) + 3_600;

/** The items beside the tasks: of a session, of the slots of an owner's open tasks. */
export function besideContract(referee: () => Referee): void {
  const store = () => referee().store;

  describe('the notes of a session', () => {
    const notes = { logLevel: 'info', waiting: { t1: 1 }, asked: { 't1 r1.a.b': 2, 'naïve 🔑': 3 } } as const;
    const update = (session: string, change: Parameters<ReturnType<typeof store>['updateSession']>[1]) =>
      store().updateSession(session, change, expiresAt);

    test('are empty for an unknown session', async () => {
      const session = newOwner();
      expect(await store().session(session)).toEqual({ waiting: {}, asked: {} });
      expect(await update(session, () => undefined)).toEqual({ waiting: {}, asked: {} });
      expect(await store().session(session)).toEqual({ waiting: {}, asked: {} });
    });

    test('have the result of a change, and nothing else of the item', async () => {
      const session = newOwner();
      expect(await update(session, () => notes)).toEqual(notes);
      expect(await store().session(session)).toStrictEqual(notes);
      const { logLevel: _, ...less } = notes;
      expect(await update(session, (before) => ({ ...less, waiting: { ...before.waiting, t2: 2 } }))).toEqual({
        ...{ ...less, waiting: { t1: 1, t2: 2 } },
      });
      expect(await update(session, () => undefined)).toStrictEqual({ ...less, waiting: { t1: 1, t2: 2 } });
    });

    test('lose none of several changes at the same time', async () => {
      const session = newOwner();
      const tasks = Array.from({ length: 8 }, (_, i) => `t${i}`);
      const add = (task: string): Promise<unknown> =>
        update(session, (before) => ({ ...before, waiting: { ...before.waiting, [task]: 1 } })).catch((error) => {
          // It has lost all its races: its caller tries again.
          if (!(error instanceof Unavailable)) throw error;
          return add(task);
        });
      await Promise.all(tasks.map(add));
      expect(Object.keys((await store().session(session)).waiting).toSorted()).toEqual(tasks);
    });
  });

  describe('the open-task slots of an owner (C-37)', () => {
    test('have a limit, and another owner has others', async () => {
      const owner = newOwner();
      for (let i = 0; i < 5; i++) {
        const task = newTask({}, owner);
        expect(await store().takeSlot(task, 5, now, expiresAt)).toBe(true);
        await store().create(task);
      }
      expect(await store().takeSlot(newTask({}, owner), 5, now, expiresAt)).toBe(false);
      expect(await store().takeSlot(newTask(), 5, now, expiresAt)).toBe(true);
    });

    test('are free again once tasks have ended, the last one, too', async () => {
      const owner = newOwner();
      const tasks = [newTask({}, owner), newTask({}, owner)];
      for (const task of tasks) {
        await store().takeSlot(task, 2, now, expiresAt);
        await store().create(task);
      }
      for (const task of tasks) await store().apply(task, cancel(now));
      for (let i = 0; i < 2; i++) {
        const task = newTask({}, owner);
        expect(await store().takeSlot(task, 2, now, expiresAt)).toBe(true);
        await store().create(task);
      }
      expect(await store().takeSlot(newTask({}, owner), 2, now, expiresAt)).toBe(false);
    });

    test('are searched as often as calls want, but after a cancel of a full owner only if they may', async () => {
      const owner = newOwner();
      const [task, other] = [newTask({}, owner), newTask({}, owner)];
      let searches = 0;
      const take = (may: boolean, key = newTask({}, owner), at = now) =>
        store().takeSlot(key, 1, at, expiresAt, async () => {
          searches++;
          return may;
        });
      await take(true, task);
      await store().create(task);
      expect(await take(false)).toBe(false);
      await store().apply(task, cancel(now));
      await store().slotFreed(owner, now);
      expect([await take(false), searches]).toEqual([false, 1]);
      expect([await take(true, other), searches]).toEqual([true, 2]);
      await store().create(other);
      // Two seconds later the cancel is over. Tasks that end by themselves free their slots for any call.
      await store().apply(other, cancel(now));
      expect([await take(false, newTask({}, owner), now + 2_000), searches]).toEqual([true, 2]);
    });

    test('are checked again two seconds after none was free, or when a task has ended', async () => {
      const owner = newOwner();
      const first = newTask({}, owner);
      const take = (most: number, at: number) => store().takeSlot(newTask({}, owner), most, at, expiresAt);
      expect(await store().takeSlot(first, 1, now, expiresAt)).toBe(true);
      await store().create(first);
      expect(await take(1, now)).toBe(false);
      await store().apply(first, cancel(now));
      expect(await take(1, now + 1_999)).toBe(false);
      // The check was not about a higher limit.
      expect(await take(2, now + 1_999)).toBe(true);
      expect(await take(1, now + 1_999)).toBe(false);
      await store().slotFreed(owner, now + 1_999);
      // The slot of the second task, which was never created, is kept for a minute or two.
      expect(await take(1, now + 1_999)).toBe(false);
      expect(await take(2, now + 1_999)).toBe(true);
      expect(await take(1, now + 200_000)).toBe(true);
    });

    test('of a full owner are found whatever their age', async () => {
      const owner = newOwner();
      const tasks = Array.from({ length: 25 }, (_, i) => newTask({}, owner, now + i));
      for (const task of tasks) {
        expect(await store().takeSlot(task, 25, now, expiresAt)).toBe(true);
        await store().create(task);
      }
      for (const task of [tasks.at(-1), tasks[0]]) if (task) await store().apply(task, cancel(now));
      expect(await store().takeSlot(newTask({}, owner), 25, now, expiresAt)).toBe(true);
      expect(await store().takeSlot(newTask({}, owner), 25, now, expiresAt)).toBe(true);
      expect(await store().takeSlot(newTask({}, owner), 25, now, expiresAt)).toBe(false);
    });

    test('are enough for a hundred and more tasks, one after the other', async () => {
      const owner = newOwner();
      for (let i = 0; i < 110; i++) {
        const task = newTask({}, owner);
        expect(await store().takeSlot(task, 40, now, expiresAt)).toBe(true);
        await store().create({ ...task, status: i < 30 ? 'working' : 'failed' });
      }
    });
  });
}
