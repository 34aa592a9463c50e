import { ID_LETTERS } from '../../../functions/tasks/ids.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { openTaskSlotStore } from '../../../functions/tasks/table/open-task-slots.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import { createRandom } from '../../../local/testing.ts';
import { memoryEngine, TABLE } from '../../support/engine/memory.ts';
import { metered } from '../../support/engine/units.ts';
import { NEW_TASK } from './simple-task.ts';

const OWNER = `owner#${'0'.repeat(26)}`;
const T0 = 1_700_000_000_000;
/** Calls in a second. Some are refused, as all slots are taken. */
const CALLS = 250;
/** How long a task is open, on average, in ms. */
const OPEN = 5_000;
const SECONDS = 12;

export interface OwnerLoad {
  /** Write units of all items of the owner, for each task: slots, record, end. */
  readonly write: number;
  /** Read units of the slots, for each task. */
  readonly read: number;
  /** Open tasks: the mean, and the most. */
  readonly open: number;
  readonly most: number;
}

/** One owner that calls so often that all its slots are taken: the code of the slots on a metered table, with one caller. */
export async function simulateOwner(maxOpenTasks: number): Promise<OwnerLoad> {
  const random = createRandom('an owner').number;
  const clock = { now: T0 };
  const engine = memoryEngine(() => clock.now);
  const { dynamoDb, used } = metered(engine.dynamoDb, engine.table);
  const store = openTaskSlotStore(dynamoDb, TABLE);
  const open = new Map<TaskRecord, number>();
  const newTask = (): TaskRecord => {
    const taskId = Array.from({ length: 36 }, () => ID_LETTERS[Math.floor(random() * 32)]).join('');
    return create({ owner: OWNER, taskId }, NEW_TASK, clock.now);
  };
  const begin = async (): Promise<boolean> => {
    const task = newTask();
    if (!(await store.takeSlot(task, maxOpenTasks, clock.now, Math.ceil(clock.now / 1_000)))) return false;
    engine.records.set(task);
    open.set(task, clock.now - OPEN * Math.log(1 - random()));
    return true;
  };
  for (let i = 0; i < maxOpenTasks; i++) await begin();
  used.read = 0;
  used.write = 0;
  let made = 0;
  const counts: number[] = [];
  for (let call = 0; call < CALLS * SECONDS; call++) {
    clock.now = T0 + (call * 1_000) / CALLS;
    for (const [task, endsAt] of open) {
      if (endsAt > clock.now) continue;
      open.delete(task);
      engine.records.set({ ...task, status: 'completed' });
    }
    if (await begin()) made++;
    counts.push(open.size);
  }
  return {
    // The record, and its end.
    write: used.write / made + 2,
    read: used.read / made,
    open: counts.reduce((sum, count) => sum + count, 0) / counts.length,
    most: Math.max(...counts),
  };
}
