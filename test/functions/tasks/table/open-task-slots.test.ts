import { describe, expect, test } from 'vitest';
import { newTaskKey, sessionPartition } from '../../../../functions/tasks/ids.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { openTaskSlotStore } from '../../../../functions/tasks/table/open-task-slots.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { conditionFailed, fakeTable, type Input } from './fake-table.ts';

const T0 = 1_700_000_000_000;
const EXPIRES = 1_800_000_000;
const session = { kind: 'anonymous', session: 's' } as const;
const owner = sessionPartition('s');
const { small, full, newest, createdWithin } = limits.openTaskSlots;

/** A task of the owner, each a millisecond younger than the last. */
const taskAt = (i: number): TaskRecord =>
  create(
    newTaskKey(session, T0 + i),
    { tool: 'x', ttl: 86_400_000, timeout: 3_600_000, accepts: [], legacy: true },
    T0 + i,
  );
const slotOf = ({ taskId }: TaskRecord, at = T0): string => taskId.slice(-36) + Math.floor(at / 60_000).toString(36);
const ended = (task: TaskRecord): TaskRecord => ({ ...task, status: 'completed' });

/** An owner with these tasks, each in a slot. The set takes a slot only once `refusals` creates were refused. */
function ownerOf(tasks: readonly TaskRecord[], refusals = 1) {
  const state = {
    slots: new Set(tasks.map((task) => slotOf(task))),
    records: new Map<string, object>(tasks.map((task) => [task.taskId, task])),
    unread: new Set<string>(),
    note: undefined as Input['Item'],
    refusals,
  };
  const table = fakeTable((command, input) => {
    if (command === 'Get' && input.Key?.taskId === '#slots-full') return { Item: state.note };
    if (command === 'Get') return state.slots.size > 0 && { Item: { taken: new Set(state.slots) } };
    if (command === 'Put') state.note = input.Item;
    if (command === 'Update' && input.UpdateExpression?.startsWith('ADD') && state.refusals-- > 0)
      throw conditionFailed();
    if (command !== 'BatchGet') return {};
    const keys = input.RequestItems?.t.Keys ?? [];
    const left = keys.filter(({ taskId }) => state.unread.has(taskId));
    const found = keys
      .filter(({ taskId }) => !state.unread.has(taskId))
      .flatMap((key) => state.records.get(key.taskId) ?? []);
    return { Responses: { t: found }, ...(left.length > 0 && { UnprocessedKeys: { t: { Keys: left } } }) };
  });
  const store = openTaskSlotStore(table.db, 't');
  const next = taskAt(10_000);
  return {
    ...{ ...table, state, store, next },
    take: (most: number, now = T0) => store.takeSlot(next, most, now, EXPIRES),
    /** The slots that a search gave back, and the size that it lets the set grow to. */
    freed: () => {
      const [values] = table.inputs('Update').flatMap(({ UpdateExpression = '', ...rest }) => {
        const { ExpressionAttributeNames: names, ExpressionAttributeValues: given } = rest;
        return UpdateExpression.startsWith('SET') ? [{ UpdateExpression, names, ...given }] : [];
      }) as { UpdateExpression: string; names: object; ':room': number; ':slots'?: Set<string> }[];
      if (values === undefined) return undefined;
      const { UpdateExpression: update, names, ':room': room, ':slots': slots } = values;
      return { room, slots, update, names };
    },
    searched: () => table.inputs('BatchGet').map(({ RequestItems }) => RequestItems?.t.Keys.map((key) => key.taskId)),
  };
}

const many = (count: number, of: (task: TaskRecord, i: number) => TaskRecord = (task) => task) =>
  Array.from({ length: count }, (_, i) => of(taskAt(i), i));
const idsOf = (tasks: readonly TaskRecord[]) => tasks.map(({ taskId }) => taskId);

describe('a create that finds no slot searches for tasks that have ended (C-37)', () => {
  test('of a full set: the newest first, and no more than it takes to free one slot', async () => {
    const tasks = many(120, (task, i) => (i === 115 || i < 50 ? ended(task) : task));
    const { take, searched, freed } = ownerOf(tasks);
    expect(await take(120)).toBe(true);
    expect(searched()).toEqual([idsOf(tasks.slice(-newest)).toReversed()]);
    expect(freed()?.slots).toEqual(new Set([slotOf(tasks[115] as TaskRecord)]));
  });

  test('of a full set whose newest are open: then the others, a hundred at a time', async () => {
    const tasks = many(120, (task, i) => (i === 3 ? ended(task) : task));
    const { take, searched, inputs } = ownerOf(tasks);
    expect(await take(120)).toBe(true);
    expect(searched().map((ids) => ids?.length)).toEqual([newest, 100, 10]);
    expect(new Set(searched().flat())).toEqual(new Set(idsOf(tasks)));
    // A task that was cancelled a moment ago must be found.
    const reads = [...inputs('Get'), ...inputs('BatchGet').map(({ RequestItems }) => RequestItems?.t)];
    expect(reads.map((read) => read?.ConsistentRead)).toEqual(reads.map(() => true));
  });

  test('of a set above a limit that was lowered: enough to come below it', async () => {
    const tasks = many(40, (task, i) => (i >= 20 ? ended(task) : task));
    const { take, freed, searched } = ownerOf(tasks);
    expect(await take(30)).toBe(true);
    expect(searched().map((ids) => ids?.length)).toEqual([newest, 30]);
    expect(freed()?.slots?.size).toBe(20);
  });

  test('of a set that may still grow: all of them at once, and each one that has ended', async () => {
    const tasks = many(small, (task, i) => (i % 2 === 0 ? ended(task) : task));
    const { take, searched, freed } = ownerOf(tasks);
    expect(await take(100)).toBe(true);
    expect(searched().map((ids) => ids?.length)).toEqual([small]);
    expect(freed()?.slots).toEqual(new Set(tasks.filter((_, i) => i % 2 === 0).map((task) => slotOf(task))));
  });

  test.each([
    ['to twice the open tasks', 40, 1_000, 80],
    ['never beyond the limit', 40, 50, 50],
    ['at least to its first size', 2, 1_000, small],
  ])('and lets the set grow: %s; DynamoDB takes no empty set and no unused name', async (_how, open, most, room) => {
    const { take, freed } = ownerOf(many(open));
    expect(await take(most)).toBe(true);
    expect(freed()).toEqual({ room, slots: undefined, update: 'SET #room = :room', names: { '#room': 'room' } });
  });

  test('in a set that is gone meanwhile', async () => {
    const { take, searched } = ownerOf([]);
    expect(await take(10)).toBe(true);
    expect(searched()).toEqual([]);
  });

  test('and gives up after eight, so that creates at the same time cannot keep it', async () => {
    const { take, inputs } = ownerOf(many(2), 100);
    await expect(take(10)).rejects.toMatchObject({ code: -32603, message: 'Too many calls at once: try again' });
    expect(inputs('Update').filter(({ UpdateExpression }) => UpdateExpression?.startsWith('ADD'))).toHaveLength(8);
  });

  test('a task that throttling leaves out counts as open', async () => {
    const tasks = many(3, ended);
    const { take, state, freed } = ownerOf(tasks);
    state.unread.add(tasks[1]?.taskId ?? '');
    // By now, one that is not there was never created.
    expect(await take(100, T0 + 200_000)).toBe(true);
    expect(freed()?.slots).toEqual(new Set([tasks[0], tasks[2]].map((task) => task && slotOf(task))));
  });

  test('a record that this release does not understand keeps no slot', async () => {
    const [task] = many(1) as [TaskRecord];
    const { take, state, freed } = ownerOf([task]);
    state.records.set(task.taskId, { ...task, version: 99, status: 'paused' });
    expect(await take(1)).toBe(true);
    expect(freed()?.slots?.size).toBe(1);
  });

  test('a task that took a second slot keeps the later one only', async () => {
    const [task] = many(1) as [TaskRecord];
    const { take, state, freed } = ownerOf([task]);
    state.slots.add(slotOf(task, T0 + 120_000));
    expect(await take(100)).toBe(true);
    expect(freed()?.slots).toEqual(new Set([slotOf(task)]));
  });

  test('a task that was never created keeps its slot for a minute after the minute it took it in', async () => {
    for (const [after, isOver] of [
      [createdWithin + 60_000, false],
      [createdWithin + 60_001, true],
    ] as const) {
      const { take, state, freed } = ownerOf(many(1));
      state.records.clear();
      await take(100, Math.floor(T0 / 60_000) * 60_000 + after);
      expect(freed()?.slots?.size).toBe(isOver ? 1 : undefined);
    }
  });
});

describe('an owner who was found full (C-37)', () => {
  test('is refused after one small read, until two seconds have passed', async () => {
    const { take, state, inputs, asked } = ownerOf(many(2), 100);
    expect(await take(2)).toBe(false);
    expect(state.note).toEqual({ owner, taskId: '#slots-full', open: 2, until: T0 + full, expiresAt: EXPIRES });
    const before = asked.length;
    expect(await take(2, T0 + full - 1)).toBe(false);
    expect(asked.length - before).toBe(1);
    const searches = inputs('BatchGet').length;
    expect(await take(2, T0 + full)).toBe(false);
    expect(inputs('BatchGet').length).toBe(searches + 1);
  });

  test('is searched again once a task of it has ended; of others nothing is written', async () => {
    const { take, state, store, inputs } = ownerOf(many(2), 100);
    await store.slotFreed(owner, T0);
    expect(inputs('Put')).toEqual([]);
    await take(2);
    await store.slotFreed(owner, T0 + 1);
    expect(state.note).toMatchObject({ open: 0, until: 0, expiresAt: Math.ceil((T0 + 1) / 1_000) });
    await store.slotFreed(owner, T0 + 1);
    expect(inputs('Put')).toHaveLength(2);
  });
});

test('a slot is short: many of them share an item of 400 KB', async () => {
  const { take, inputs, next } = ownerOf([], 0);
  await take(10);
  const [slot] = (inputs('Update')[0]?.ExpressionAttributeValues?.[':slot'] as Set<string>) ?? [];
  expect(slot).toBe(slotOf(next));
  expect(slot?.length).toBeLessThan(next.taskId.length);
});
