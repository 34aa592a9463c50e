import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { failure } from '../../functions/tasks/failures.ts';
import type { TaskKey, TaskRecord } from '../../functions/tasks/record.ts';
import { type Cursor, dueIndex } from '../../functions/tasks/table/due-index.ts';
import { operatorReads } from '../../functions/tasks/table/operator-reads.ts';
import { answer } from '../../functions/tasks/transitions/answers.ts';
import { askFirst, createRefused } from '../../functions/tasks/transitions/begin.ts';
import { cancel, fail } from '../../functions/tasks/transitions/end.ts';
import { confirmStart } from '../../functions/tasks/transitions/run.ts';
import type { Referee } from './referee.ts';
import { newOwner, newTask, now, taskIn } from './tasks.ts';

export function tableContract(referee: () => Referee): void {
  const store = () => referee().store;
  const keyOf = ({ owner, taskId }: TaskKey): TaskKey => ({ owner, taskId });

  test('a record expires in whole seconds, after its ttl and within five years', async () => {
    const record = newTask();
    await store().create(record);
    const { expiresAt = 0 } = (await store().get(record)) ?? {};
    expect(Number.isInteger(expiresAt)).toBe(true);
    expect(expiresAt * 1_000).toBeGreaterThan(record.createdAt + record.ttl);
    expect(expiresAt * 1_000).toBeLessThan(now + 5 * 365 * 86_400_000);
  });

  describe('the index of statuses', () => {
    test('has each task under its status, and moves it with the status', async () => {
      const reads = operatorReads(referee().dynamoDb, referee().table);
      const owner = newOwner();
      const records = [3, 1, 2].map((n) => newTask({ owner, tool: owner, createdAt: now + n }));
      await Promise.all(records.map((record) => store().create(record)));
      const inStatus = async (status: TaskRecord['status']) =>
        (await reads.inStatus(status, { tool: owner }, 1_000)).tasks
          .map(({ createdAt }) => createdAt - now)
          .toSorted((a, b) => b - a);
      const listed = (status: TaskRecord['status']) => expect.poll(() => inStatus(status), { interval: 20 });
      await listed('working').toEqual([3, 2, 1]);
      await store().apply(records[2] as TaskRecord, cancel(now));
      await listed('working').toEqual([3, 1]);
      await listed('cancelled').toEqual([2]);
    });

    test('holds tasks only: no slots, streams, notes of a session, progress or steps', async () => {
      const { db, table: TableName } = referee();
      const [owner, record] = [newOwner(), newTask()];
      const run = { ...keyOf(record), round: 1, deadline: now + 60_000 };
      await store().takeSlot({ ...record, owner }, 5, now, 1);
      await store().updateSession(owner, () => ({ logLevel: 'info', waiting: {}, asked: {} }), 1);
      await store().report(run, { message: 'm', progress: 1, total: 2 }, now);
      await store().writeEntry(run, { kind: 'step', name: 's', value: '1' });
      const partitions = [owner, `progress#${record.owner}`];
      const items = await Promise.all(
        partitions.map(async (partition) => {
          const query = new QueryCommand({
            ...{ TableName, KeyConditionExpression: '#owner = :owner', ConsistentRead: true },
            ExpressionAttributeNames: { '#owner': 'owner' },
            ExpressionAttributeValues: { ':owner': partition },
          });
          return (await db.send(query)).Items ?? [];
        }),
      );
      expect(items.flat().length).toBeGreaterThanOrEqual(4);
      // An item without one of the two keys is in no index.
      expect(items.flat().filter((item) => 'status' in item || 'createdAt' in item)).toEqual([]);
    });
  });

  describe('the index of what is due', () => {
    /** A shard of the test's own, beyond those that tasks get. */
    let shards = 100;
    const inShard = (shard: number, more: Partial<TaskRecord> = {}) => newTask({ due: String(shard), ...more });
    const duePage = (shard: number, until: number, pageSize = 100, after?: Cursor) =>
      dueIndex(referee().dynamoDb, referee().table, pageSize).page(shard, until, after);
    const due = async (shard: number, until = now + 86_400_000) => (await duePage(shard, until)).keys;
    const listed = (shard: number, until: number) => expect.poll(() => due(shard, until), { interval: 20 });

    test('has a new task from its first check on', async () => {
      const shard = shards++;
      const record = inShard(shard);
      await store().create(record);
      await listed(shard, record.dueAt ?? 0).toMatchObject([keyOf(record)]);
      await listed(shard, (record.dueAt ?? 0) - 1).toEqual([]);
    });

    test('keeps nothing but keys, and only of tasks that have both of them', async () => {
      const { db, table: TableName } = referee();
      const shard = shards++;
      const record = inShard(shard, taskIn('working'));
      const { dueAt: _, ...sparse } = inShard(shard);
      await Promise.all([store().create({ ...record, due: String(shard) }), store().create(sparse)]);
      await store().updateSession(newOwner(), (notes) => notes, 1);
      await listed(shard, now + 86_400_000).toHaveLength(1);
      const { Items } = await db.send(
        new QueryCommand({
          TableName,
          IndexName: 'due',
          KeyConditionExpression: '#due = :due',
          ExpressionAttributeNames: { '#due': 'due' },
          ExpressionAttributeValues: { ':due': String(shard) },
        }),
      );
      expect(Items).toEqual([{ ...keyOf(record), due: String(shard), dueAt: record.dueAt }]);
    });

    test.each([
      ['cancelled', () => cancel(now)],
      ['failed', () => fail(failure('ToolFailed'), now)],
    ])('loses a task that was %s', async (_how, change) => {
      const shard = shards++;
      const record = inShard(shard);
      await store().create(record);
      await listed(shard, now + 86_400_000).toHaveLength(1);
      await store().apply(record, change());
      await listed(shard, now + 86_400_000).toEqual([]);
    });

    test('never has a refused task', async () => {
      const shard = shards++;
      await store().create(createRefused(inShard(shard), '{}'));
      const other = inShard(shard);
      await store().create(other);
      await listed(shard, now + 86_400_000).toMatchObject([keyOf(other)]);
    });

    test('follows a task from check to check', async () => {
      const shard = shards++;
      const record = inShard(shard);
      await store().create(record);
      const confirmed = await store().apply(record, confirmStart(record, now));
      await listed(shard, (confirmed?.dueAt ?? 0) - 1).toEqual([]);
      const asking = (await store().apply(record, askFirst(record, '{}', '{}', now))) ?? record;
      await listed(shard, asking.dueAt ?? 0).toHaveLength(1);
      const answered = await store().apply(record, answer(asking, ['r1.a'], { 'r1.a': '1' }, now));
      await listed(shard, answered?.dueAt ?? 0).toHaveLength(1);
      expect(answered?.dueAt).toBeLessThan(asking.dueAt ?? 0);
    });

    test('pages: the longest due first, all of them, none twice', async () => {
      const shard = shards++;
      const records = Array.from({ length: 7 }, (_, i) => inShard(shard, { dueAt: now + ((i * 3) % 7) }));
      // Two of the same moment, on both sides of a page's end or not.
      records.push(inShard(shard, { dueAt: now + 2 }));
      await Promise.all(records.map((record) => store().create(record)));
      await listed(shard, now + 86_400_000).toHaveLength(records.length);
      const seen: TaskKey[] = [];
      let after: Cursor | undefined;
      for (let pages = 0; pages < 9; pages++) {
        const page = await duePage(shard, now + 5, 2, after);
        seen.push(...page.keys.map(keyOf));
        after = page.next;
        if (after === undefined) break;
      }
      const expected = records.filter(({ dueAt = 0 }) => dueAt <= now + 5);
      const dueAtOf = ({ taskId }: TaskKey) => records.find((record) => record.taskId === taskId)?.dueAt ?? 0;
      expect(seen.map(dueAtOf)).toEqual(expected.map(({ dueAt = 0 }) => dueAt).toSorted((a, b) => a - b));
      expect(new Set(seen)).toEqual(new Set(expected.map(keyOf)));
    });
  });
}
