import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { createRefused } from '../../../functions/tasks/transitions/begin.ts';
import { cancel } from '../../../functions/tasks/transitions/end.ts';
import { engine, type Referee } from '../referee.ts';
import { newOwner, newTask, now, taskIn } from '../tasks.ts';

export function readsContract(referee: () => Referee): void {
  const store = () => referee().store;
  const createAll = async (records: readonly TaskRecord[]) => {
    await Promise.all(records.map((record) => store().create(record)));
    return records;
  };
  /** Several tasks of one owner, each a millisecond younger than the last. */
  const tasksOf = (owner: string, count: number, more: Partial<TaskRecord> = {}) =>
    createAll(Array.from({ length: count }, (_, i) => newTask(more, owner, now + i)));
  const ids = (tasks: readonly TaskRecord[]) => tasks.map(({ taskId }) => taskId);

  describe('create and get', () => {
    test('a task is there as it was created, at once', async () => {
      const record = taskIn('input_required');
      expect(await store().create(record)).toBe(true);
      expect(await store().get(record)).toEqual(record);
    });

    test('a task is created once; a second one with its key changes nothing (A-14)', async () => {
      const record = newTask();
      expect(await store().create(record)).toBe(true);
      expect(await store().create(createRefused(record, '"other"'))).toBe(false);
      expect(await store().get(record)).toEqual(record);
    });

    test('the same taskId of another owner is another task, and no other owner finds one (C-28)', async () => {
      const record = newTask();
      await store().create(record);
      const { taskId } = record;
      expect(await store().get({ owner: newOwner(), taskId })).toBeUndefined();
      expect(await store().create({ ...record, owner: newOwner() })).toBe(true);
    });

    test('members that are undefined are left out', async () => {
      const { statusMessage: _, ...record } = newTask();
      await store().create({ ...record, statusMessage: undefined } as unknown as TaskRecord);
      expect(await store().get(record)).toStrictEqual(record);
    });
  });

  describe('readStatus', () => {
    test('shows what a run may know of its task, and nothing else', async () => {
      const record = taskIn('working');
      await store().create(record);
      const { status, round } = record;
      expect(await store().readStatus(record)).toStrictEqual({ status, round });
    });

    test('shows nothing of a task that does not exist', async () => {
      expect(await store().readStatus(newTask())).toBeUndefined();
    });
  });

  describe('a record that this release does not understand', () => {
    const later = (more: Partial<TaskRecord> = {}) => ({ ...newTask(more), version: 2, status: 'paused' });
    const put = (record: object) => store().create(record as TaskRecord);
    const raw = async ({ owner, taskId }: { owner: string; taskId: string }) =>
      (await referee().db.send(new GetCommand({ TableName: referee().table, Key: { owner, taskId } }))).Item;

    test('is an error if read alone, and left out of a list', async () => {
      const [record, other] = [later(), newTask()];
      await put(record);
      await put(other);
      await expect(store().get(record)).rejects.toMatchObject({ data: { reason: 'RecordUnknown' } });
      expect(await store().getMany([record as TaskRecord, other])).toEqual([other]);
      expect(await store().list(record.owner, 10)).toEqual({ tasks: [] });
    });

    test('is postponed if it is due still, and nothing but that changes', async () => {
      const record = later({ dueAt: 1_000 });
      await put(record);
      const stored = await raw(record);
      await store().postpone(record, 999, 5_000);
      expect(await raw(record)).toEqual(stored);
      await store().postpone(record, 1_000, 5_000);
      expect(await raw(record)).toEqual({ ...stored, dueAt: 5_000 });
      const gone = newTask();
      await store().postpone(gone, 1_000, 5_000);
      expect(await raw(gone)).toBeUndefined();
    });
  });

  describe('list', () => {
    test.each([1, 2, 3, 7, 100])('pages of %i: all tasks, newest first, none twice (C-23)', async (limit) => {
      const owner = newOwner();
      const all = await tasksOf(owner, 7);
      await tasksOf(newOwner(), 2);
      const seen: TaskRecord[] = [];
      let last: string | undefined;
      for (let pages = 0; pages < 9; pages++) {
        const page = await store().list(owner, limit, last);
        expect(page.tasks.length).toBeLessThanOrEqual(limit);
        seen.push(...page.tasks);
        last = page.last;
        if (last === undefined) break;
        expect(last).toBe(ids(page.tasks).at(-1));
      }
      expect(last).toBeUndefined();
      expect(seen).toEqual(all.toReversed());
    });

    test('shows a task right after it was created, and as it was changed', async () => {
      const owner = newOwner();
      for (let i = 0; i < 20; i++) {
        const record = newTask({}, owner, now + i);
        await store().create(record);
        expect(ids((await store().list(owner, 1)).tasks)).toEqual([record.taskId]);
        const cancelled = await store().apply(record, cancel(now));
        expect((await store().list(owner, 1)).tasks).toEqual([cancelled]);
      }
    });

    test('other items of the table never show', async () => {
      const owner = newOwner();
      await store().updateSession(owner, (notes) => notes, 1);
      await store().takeSlot({ owner, taskId: 'x' }, 10, now, 1);
      expect(await store().list(owner, 10)).toEqual({ tasks: [] });
      const all = await tasksOf(owner, 3);
      expect((await store().list(owner, 10)).tasks).toEqual(all.toReversed());
      const page = await store().list(owner, 3);
      const rest = page.last === undefined ? [] : (await store().list(owner, 3, page.last)).tasks;
      expect([...page.tasks, ...rest]).toHaveLength(3);
    });

    test('a page that is too large for one answer is a shorter page', async () => {
      const owner = newOwner();
      const all = await tasksOf(owner, 5, { status: 'completed', result: 'x'.repeat(300_000) });
      const seen: string[] = [];
      let page = await store().list(owner, 50);
      expect(page.tasks.length).toBeLessThan(5);
      for (seen.push(...ids(page.tasks)); page.last !== undefined; seen.push(...ids(page.tasks))) {
        page = await store().list(owner, 50, page.last);
      }
      expect(seen).toEqual(ids(all).toReversed());
    });

    test('an owner without tasks has an empty list; a list continues after a task that is gone', async () => {
      expect(await store().list(newOwner(), 10)).toEqual({ tasks: [] });
      const owner = newOwner();
      const [first, ...rest] = await tasksOf(owner, 3);
      const between = newTask({}, owner, now + 1);
      const older = [first, ...rest].filter((task) => task !== undefined && task.taskId < between.taskId);
      expect((await store().list(owner, 10, between.taskId)).tasks).toEqual(older.toReversed());
    });
  });

  describe('getMany', () => {
    test('the existing tasks of many owners', async () => {
      const there = await createAll([newTask(), taskIn('input_required'), taskIn('completed')]);
      const found = await store().getMany([newTask(), ...there, newTask()]);
      expect(new Set(found)).toEqual(new Set(there));
      expect(await store().getMany([newTask()])).toEqual([]);
      expect(await store().getMany([])).toEqual([]);
    });

    test('a hundred at once, no more and none twice: the caller must see to it', async () => {
      const all = await tasksOf(newOwner(), 100);
      expect(await store().getMany(all)).toHaveLength(100);
      await expect(store().getMany([...all, newTask()])).rejects.toMatchObject({ name: 'ValidationException' });
      await expect(store().getMany([...all.slice(0, 1), ...all.slice(0, 1)])).rejects.toMatchObject({
        name: 'ValidationException',
      });
    });

    test('more than one answer can carry (16 MB; dynalite: 1.4 MB): the rest is read again', async () => {
      const all = await tasksOf(newOwner(), engine === 'dynalite' ? 20 : 45, {
        status: 'completed',
        result: 'x'.repeat(390_000),
      });
      expect(new Set(ids(await store().getMany(all)))).toEqual(new Set(ids(all)));
    });
  });
}
