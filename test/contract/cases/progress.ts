import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { limits } from '../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { answer } from '../../../functions/tasks/transitions/answers.ts';
import { cancel } from '../../../functions/tasks/transitions/end.ts';
import type { Referee } from '../referee.ts';
import { newOwner, newTask, now } from '../tasks.ts';

const runOf = (record: TaskRecord, round = record.round) => ({ ...record, round, deadline: record.deadlineAt });

/** The items that the runs of a task write. */
export function progressContract(referee: () => Referee): void {
  const store = () => referee().store;
  const created = async (more: Partial<TaskRecord> = {}, owner = newOwner(), at = now) => {
    const record = newTask(more, owner, at);
    await store().create(record);
    return record;
  };
  const half = { message: 'half of it', progress: 1, total: 2 };
  const shown = { statusMessage: 'half of it', progress: 1, progressTotal: 2, updatedAt: now + 1_000 };
  const item = async ({ owner, taskId }: TaskRecord) => {
    const Key = { owner: `progress#${owner}`, taskId };
    return (await referee().db.send(new GetCommand({ TableName: referee().table, Key }))).Item;
  };

  test('a report of a run shows as progress, and does not change the record', async () => {
    const record = await created();
    expect(await store().get(record, { report: true })).toEqual(record);
    expect(await store().report(runOf(record), half, now + 1_000)).toBe(true);
    expect(await store().get(record)).toEqual(record);
    for (const seen of [
      await store().get(record, { report: true }),
      (await store().readMany([record]))[0],
      (await store().withReports(await store().getMany([record])))[0],
      (await store().list(record.owner, 10)).tasks[0],
    ]) {
      expect(seen).toEqual({ ...record, ...shown });
    }
  });

  test('a report replaces the one before, also where it says less', async () => {
    const record = await created();
    await store().report(runOf(record), half, now);
    await store().report(runOf(record), { message: 'almost' }, now + 1_000);
    expect(await store().get(record, { report: true })).toEqual({
      ...record,
      statusMessage: 'almost',
      updatedAt: now + 1_000,
    });
  });

  test('a report on a task that has ended does not show, and does not bring it back (C-10)', async () => {
    const record = await created();
    await store().report(runOf(record), half, now);
    const cancelled = await store().apply(record, cancel(now));
    await store().report(runOf(record), half, now + 1_000);
    expect(await store().get(record, { report: true })).toEqual(cancelled);
    expect(await store().withReports(await store().getMany([record]))).toEqual([cancelled]);
  });

  test('a report of one round does not show in the next', async () => {
    const record = await created({ status: 'input_required', asked: '{}' });
    await store().report(runOf(record), half, now + 1_000);
    expect(await store().get(record, { report: true })).toEqual(record);
    const answered = await store().apply(record, answer(record, ['r1.a'], { 'r1.a': '{}' }, now));
    expect(await store().get(record, { report: true })).toEqual(answered);
    await store().report(runOf(record, 2), { message: 'half of it' }, now + 1_000);
    expect(await store().get(record, { report: true })).toEqual({
      ...answered,
      statusMessage: 'half of it',
      updatedAt: now + 1_000,
    });
  });

  test('a run of an earlier round cannot overwrite a later one, and learns so', async () => {
    const record = await created();
    expect(await store().report(runOf(record, 2), half, now)).toBe(true);
    const before = await item(record);
    expect(await store().report(runOf(record), { message: 'late' }, now)).toBe(false);
    expect(await item(record)).toEqual(before);
  });

  test('a report of an older task with the same key stops no run', async () => {
    const record = await created();
    const old = { ...runOf(record, 3), deadline: now - 2 * limits.retention };
    expect(await store().report(old, half, now)).toBe(true);
    expect(await store().report(runOf(record), { message: 'new' }, now)).toBe(true);
  });

  test('a report expires a day after the deadline', async () => {
    const record = await created();
    expect(await item(record)).toBeUndefined();
    await store().report(runOf(record), half, now);
    const expiresAt = Math.ceil((record.deadlineAt + limits.retention) / 1_000);
    expect(await item(record)).toMatchObject({ expiresAt });
  });

  test('a report without a record makes no task', async () => {
    const record = newTask();
    expect(await store().report(runOf(record), half, now)).toBe(true);
    expect(await store().get(record, { report: true })).toBeUndefined();
    expect((await store().list(record.owner, 10)).tasks).toEqual([]);
  });

  test.each([1, 2, 3, 100])('a list in pages of %i shows each task once, with its progress (C-23)', async (limit) => {
    const owner = newOwner();
    const all: TaskRecord[] = [];
    for (let i = 0; i < 7; i++) {
      const record = await created({}, owner, now + i);
      if (i % 3 !== 1) await store().report(runOf(record), half, now + 1_000);
      all.unshift(i % 3 === 1 ? record : { ...record, ...shown });
    }
    const seen: TaskRecord[] = [];
    let last: string | undefined;
    for (let pages = 0; pages < 20; pages++) {
      const page = await store().list(owner, limit, last);
      expect(page.tasks.length).toBeLessThanOrEqual(limit);
      seen.push(...page.tasks);
      last = page.last;
      if (last === undefined) break;
    }
    expect(seen).toEqual(all);
  });

  describe('a value of the wrong type from a tool is left out:', () => {
    test.each([
      ['a message that is not text', { message: 7 as unknown as string }, {}],
      ['the end of a message that is too long', { message: 'x'.repeat(1_000) }, { statusMessage: 'x'.repeat(500) }],
      ['progress that is not a number', { message: 'm', progress: 'x' as unknown as number }, { statusMessage: 'm' }],
    ])('%s', async (_name, report, expected) => {
      const record = await created();
      await store().report(runOf(record), report, now);
      expect(await store().get(record, { report: true })).toEqual({ ...record, ...expected });
    });

    test('a time that no date can be, or before the task was made', async () => {
      const record = await created();
      await store().report(runOf(record), { message: 'm' }, 9e15);
      expect((await store().get(record, { report: true }))?.updatedAt).toBe(record.deadlineAt);
      await store().report(runOf(record), { message: 'm' }, -9e15);
      expect((await store().get(record, { report: true }))?.updatedAt).toBe(record.updatedAt);
    });
  });
}
