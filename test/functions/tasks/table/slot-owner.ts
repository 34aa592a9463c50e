import { expect } from 'vitest';
import { SORT_KEYS } from '../../../../functions/tasks/attributes.ts';
import { newTaskKey, sessionPartition, shardOf } from '../../../../functions/tasks/ids.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { openTaskSlotStore } from '../../../../functions/tasks/table/open-task-slots.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { cancel } from '../../../../functions/tasks/transitions/end.ts';
import { memoryEngine, TABLE } from '../../../support/engine/memory.ts';
import { metered } from '../../../support/engine/units.ts';

export const T0 = 1_700_000_000_000;
export const EXPIRES = 1_800_000_000;
const session = { kind: 'anonymous', session: 's' } as const;
export const owner = sessionPartition('s');
const NEW = { tool: 'x', ttl: 86_400_000, timeout: 3_600_000, accepts: [], legacy: true };

/** An owner whose tasks and slots are in a table in memory. */
export function anOwner() {
  const clock = { now: T0 };
  const engine = memoryEngine(() => clock.now);
  const { dynamoDb, used } = metered(engine.dynamoDb, engine.table);
  const db = { ...dynamoDb };
  const store = { ...engine.store, ...openTaskSlotStore(db, TABLE) };
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
export type Owner = ReturnType<typeof anOwner>;

export async function begun(one: Owner, count: number, most: number): Promise<TaskRecord[]> {
  const tasks: TaskRecord[] = [];
  for (let i = 0; i < count; i++) tasks.push((await one.begin(most)) as TaskRecord);
  expect(tasks.filter((task) => task === undefined)).toEqual([]);
  return tasks;
}
/** A task whose own shard is this one. */
export function inShard(one: Owner, shard: number, shards: number): TaskRecord {
  for (;;) {
    const task = one.newTask();
    if (shardOf(task.taskId, shards) === shard) return task;
  }
}
