import { describe, expect, test, vi } from 'vitest';
import { inBulk, selected } from '../../../functions/operator/acts/bulk.ts';
import { type ListFilter, list, progressIn } from '../../../functions/operator/list.ts';
import { STATUSES, type Status, type TaskRecord } from '../../../functions/tasks/record.ts';
import { operatorReads } from '../../../functions/tasks/table/operator-reads.ts';
import { TABLE } from '../../support/engine/memory.ts';
import { MINUTE, operatorOn, T0, task } from './operators.ts';

const id = (n: number) => String(n).padStart(36, '0');
/** Made n seconds after T0. */
const at = (n: number, status: Status = 'working', more: Partial<TaskRecord> = {}): TaskRecord =>
  task({ taskId: id(n), createdAt: T0 + n * 1_000, status, ...more });

/** All pages of a list, by the numbers of their tasks. */
async function pages(filter: ListFilter, { context }: ReturnType<typeof operatorOn>): Promise<number[][]> {
  const all: number[][] = [];
  let cursor: string | undefined;
  do {
    const page = await list(filter, cursor, context);
    all.push(page.tasks.map(({ taskId }) => Number(taskId)));
    cursor = page.cursor;
  } while (cursor !== undefined && all.length < 50);
  return all;
}
const newestFirst = (numbers: readonly number[]) => numbers.toSorted((a, b) => b - a);
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

describe('a list of statuses that are not evenly mixed', () => {
  const bursts: readonly [Status, number][] = [
    ['working', 120],
    ['failed', 3],
    ['input_required', 60],
    ['completed', 130],
    ['working', 2],
    ['cancelled', 50],
    ['failed', 51],
  ];
  const mixed = bursts
    .flatMap(([status, count]) => Array<Status>(count).fill(status))
    .map((status, n) => at(n, status));
  const server = operatorOn(mixed);
  const numbers = (...statuses: Status[]) =>
    newestFirst(mixed.flatMap(({ status }, n) => (statuses.includes(status) ? [n] : [])));

  test.each<[string, Status[]]>([
    ['all', [...STATUSES]],
    ['the open ones', ['working', 'waiting', 'input_required']],
    ['two that never meet', ['input_required', 'cancelled']],
    ['one', ['completed']],
  ])('shows each task once, the newest first: %s', async (_which, statuses) => {
    const found = await pages({ statuses }, server);
    expect(found.flat()).toEqual(numbers(...statuses));
    expect(found.every((page) => page.length > 0 && page.length <= 50)).toBe(true);
  });

  test('shows open tasks, if no status is asked for', async () => {
    expect((await pages({}, server)).flat()).toEqual(numbers('working', 'waiting', 'input_required'));
  });

  test('shows the tasks of one tool, or up to one deadline, from larger pages', async () => {
    const few = operatorOn(mixed.map((record, n) => (n % 100 === 7 ? { ...record, tool: 'rare' } : record)));
    expect(await pages({ tool: 'rare', statuses: STATUSES }, few)).toEqual([[407, 307, 207, 107, 7]]);
    const soon = operatorOn(mixed.map((record, n) => (n % 100 === 7 ? { ...record, deadlineAt: 1 } : record)));
    expect(await pages({ deadlineUntil: 1, statuses: STATUSES }, soon)).toEqual([[407, 307, 207, 107, 7]]);
  });

  test('shows those that were made in a time, both bounds included', async () => {
    const filter = { createdFrom: T0 + 100_000, createdUntil: T0 + 200_000, statuses: STATUSES };
    expect((await pages(filter, server)).flat()).toEqual(newestFirst(range(100, 201)));
  });
});

describe('a list', () => {
  test('of 50 tasks is one page without a cursor, of 51 two', async () => {
    const cursorAfter = async (count: number) =>
      (await list({}, undefined, operatorOn(range(0, count).map((n) => at(n))).context)).cursor;
    expect(await cursorAfter(51)).toBeDefined();
    expect(await pages({}, operatorOn(range(0, 51).map((n) => at(n))))).toEqual([newestFirst(range(1, 51)), [0]]);
  });

  test('keeps the order of one millisecond by the ids, over the end of a page', async () => {
    const alike = range(0, 60).map((n) => at(n, 'working', { createdAt: T0 }));
    expect((await pages({}, operatorOn(alike))).flat()).toEqual(newestFirst(range(0, 60)));
  });

  test.each([
    ['created one after the other', 1],
    ['created in one millisecond', 0],
  ])('is complete where all tasks lie in one partition of the index: %s', async (_when, step) => {
    const alike = range(0, 90).map((n) => ({ ...at(n * 10), createdAt: T0 + n * step }));
    expect((await pages({}, operatorOn(alike))).flat()).toEqual(newestFirst(range(0, 90)).map((n) => n * 10));
  });

  test('of open tasks reads a few entries of each partition, and one batch of records', async () => {
    const server = operatorOn(range(0, 500).map((n) => at(n)));
    const read: number[] = [];
    const inStatus: typeof server.context.reads.inStatus = async (...asked) => {
      const found = await server.context.reads.inStatus(...asked);
      read.push(asked[2]);
      return found;
    };
    const getMany = vi.spyOn(server.context.reads, 'getMany');
    const page = await list({}, undefined, { ...server.context, reads: { ...server.context.reads, inStatus } });
    expect(page.tasks).toHaveLength(50);
    expect(read).toEqual([25, 25, 25]);
    expect(getMany).toHaveBeenCalledTimes(1);
  });

  test('leaves out a task that was deleted since the index was read', async () => {
    const server = operatorOn([at(1), at(2)]);
    const reads = { ...server.context.reads, getMany: async () => [{ ...at(1) }] };
    const { tasks } = await list({}, undefined, { ...server.context, reads });
    expect(tasks.map(({ taskId }) => taskId)).toEqual([id(1)]);
  });

  test('of one owner shows each of its tasks once, in any status that is asked for', async () => {
    const own = range(0, 120).map((n) => at(n, n % 3 === 0 ? 'failed' : 'working'));
    const server = operatorOn([...own, at(500, 'working', { owner: 'owner#other' })]);
    const { owner } = task();
    expect((await pages({ owner, statuses: STATUSES }, server)).map(({ length }) => length)).toEqual([50, 50, 20]);
    expect((await pages({ owner, statuses: STATUSES }, server)).flat()).toEqual(newestFirst(range(0, 120)));
    expect((await pages({ owner }, server)).flat()).toEqual(newestFirst(range(0, 120).filter((n) => n % 3 > 0)));
  });

  test('of one owner goes on where DynamoDB ended its page, though it shows nothing', async () => {
    const server = operatorOn([at(1, 'failed'), at(2, 'failed'), at(3)]);
    const reads = operatorReads(server.dynamoDb, TABLE);
    const small = {
      ...reads,
      ofOwner: ((owner, selection, _limit, from) => reads.ofOwner(owner, selection, 1, from)) as typeof reads.ofOwner,
    };
    const context = { ...server.context, reads: small };
    expect((await pages({ owner: task().owner, statuses: ['failed'] }, { ...server, context })).flat()).toEqual([2, 1]);
  });

  test.each([
    ['no JSON', 'abc'],
    ['no object', Buffer.from('1').toString('base64url')],
    ['of an owner', Buffer.from('{"owner":"o","taskId":"t"}').toString('base64url')],
    ['without a time', Buffer.from('{"createdUntil":"1","shown":[]}').toString('base64url')],
    ['with ids that are none', Buffer.from('{"createdUntil":1,"shown":[1]}').toString('base64url')],
  ])('refuses a cursor that it has not made: %s', async (_which, cursor) => {
    await expect(list({ statuses: ['working'] }, cursor, operatorOn().context)).rejects.toThrow('--cursor is not one');
  });

  test('names what working tasks reported last, and no message without the right to it', async () => {
    const report = { round: 1, updatedAt: T0, progress: 3, progressTotal: 12, statusMessage: 'secret' };
    const asked: unknown[] = [];
    const { context } = operatorOn([at(1), at(2, 'input_required'), at(3)]);
    const progressOfMany = async (keys: readonly { taskId: string }[], payload: boolean) => {
      asked.push([keys.map(({ taskId }) => Number(taskId)), payload]);
      const { statusMessage, ...rest } = report;
      return new Map([[id(1), payload ? { ...rest, statusMessage } : rest]]);
    };
    const reading = { ...context, reads: { ...context.reads, progressOfMany } };
    const page = await list({}, undefined, context);
    expect([...(await progressIn(page, false, reading))]).toEqual([[id(1), { at: T0, done: 3, of: 12 }]]);
    expect([...(await progressIn(page, true, reading))]).toMatchObject([[id(1), { message: 'secret' }]]);
    expect(asked).toEqual([
      [[3, 1], false],
      [[3, 1], true],
    ]);
  });
});

describe('an act on many tasks', () => {
  const many = () => operatorOn(range(0, 120).map((n) => at(n)));
  const chosen = async (max: number) => {
    const { keys, more } = await selected({}, max, many().context);
    return [keys.map(({ taskId }) => Number(taskId)), more];
  };

  test('takes the newest, at most so many, over pages, and says whether there are more', async () => {
    expect(await chosen(70)).toEqual([newestFirst(range(50, 120)), true]);
    expect(await chosen(100)).toEqual([newestFirst(range(20, 120)), true]);
    expect(await chosen(119)).toEqual([newestFirst(range(1, 120)), true]);
    expect(await chosen(120)).toEqual([newestFirst(range(0, 120)), false]);
    expect(await chosen(200)).toEqual([newestFirst(range(0, 120)), false]);
    expect(await chosen(1)).toEqual([[119], true]);
  });

  test('reads no page more than it needs', async () => {
    const { context } = many();
    const getMany = vi.spyOn(context.reads, 'getMany');
    await selected({}, 50, context);
    expect(getMany).toHaveBeenCalledTimes(1);
  });

  test('takes a task once that the index shows in two statuses at that moment', async () => {
    const { context } = many();
    const { inStatus } = context.reads;
    context.reads.inStatus = (_, ...page) => inStatus('working', ...page);
    const { keys } = await selected({ statuses: ['working', 'failed'] }, 200, context);
    expect(keys.map(({ taskId }) => Number(taskId))).toEqual(newestFirst(range(0, 120)));
  });

  const keys = range(0, 3).map((n) => ({ owner: 'o', taskId: id(n) }));

  test('goes on after one that fails, and tells the two kinds apart', async () => {
    const { context } = operatorOn();
    const act = async ({ taskId }: { taskId: string }) => {
      if (taskId === id(0)) throw new Error('no such task');
      return { taskId, done: taskId === id(2), message: 'm' };
    };
    expect(await inBulk(keys, act, 10, context)).toEqual({
      succeeded: [{ taskId: id(2), done: true, message: 'm' }],
      failed: [
        { taskId: id(0), done: false, message: 'no such task' },
        { taskId: id(1), done: false, message: 'm' },
      ],
    });
  });

  test('acts on one after the other, at most so many a second, with no pause after the last', async () => {
    const server = operatorOn();
    const { clock, slept, context } = server;
    const took = [30, 100, 5];
    const begun: number[] = [];
    const act = async ({ taskId }: { taskId: string }) => {
      begun.push(clock.now - T0 - MINUTE);
      clock.now += took[begun.length - 1] ?? 0;
      return { taskId, done: true, message: 'm' };
    };
    await inBulk(keys, act, 10, context);
    expect(begun).toEqual([0, 100, 200]);
    expect(slept).toEqual([70]);
  });
});
