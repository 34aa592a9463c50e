import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { ID_LETTERS } from '../../../functions/tasks/ids.ts';
import { openTaskSlotStore } from '../../../functions/tasks/table/open-task-slots.ts';
import { taskStore } from '../../../functions/tasks/table/store.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import { finish } from '../../../functions/tasks/transitions/end.ts';
import { taskTable } from '../../../lib/storage/task-table.ts';
import { indexWriteUnits, type JsonObject, listOf, objectOf } from '../../../local/testing.ts';
import { memoryEngine, TABLE } from '../../support/engine/memory.ts';
import { metered } from '../../support/engine/units.ts';

const T0 = 1_700_000_000_000;
export const NEW_TASK = {
  tool: 'render_report',
  ttl: 3_600_000,
  timeout: 900_000,
  accepts: [],
  legacy: false,
} as const;

export interface Units {
  /** Of the table, for each task. */
  readonly table: number;
  /** By index, for each task. */
  readonly indexes: Readonly<Record<string, number>>;
  /** Of the key of an index that gets the most of them, for each task, by index. */
  readonly hottest: Readonly<Record<string, number>>;
}

/** The table of the template. */
function schema(): JsonObject {
  const stack = new Stack(new App(), 'Scale');
  taskTable(stack, {});
  const [table] = Object.values(Template.fromStack(stack).findResources('AWS::DynamoDB::GlobalTable'));
  return objectOf(table?.Properties);
}

/** The write units of simple tasks, one of each of the 1,024 endings of an id: a slot, the record, its end. */
export async function measureSimpleTask(): Promise<Units> {
  const table = schema();
  const indexes = listOf(table.GlobalSecondaryIndexes).map(objectOf);
  const engine = memoryEngine(() => T0);
  const { dynamoDb, used } = metered(engine.dynamoDb, engine.table);
  const [store, slots] = [taskStore(dynamoDb, TABLE), openTaskSlotStore(dynamoDb, TABLE)];
  const byKey = new Map<string, number>();
  const perIndex = new Map<string, number>();
  const endings = [...ID_LETTERS].flatMap((a) => [...ID_LETTERS].map((b) => a + b));
  for (const [i, ending] of endings.entries()) {
    // Each task has an owner of its own, so that the owner makes no difference.
    const key = { owner: `owner#${String(i).padStart(26, '0')}`, taskId: `${'0'.repeat(34)}${ending}` };
    const item = () => engine.table.get({ owner: { S: key.owner }, taskId: { S: key.taskId } }, {}, false);
    const counted = async (write: () => Promise<unknown>) => {
      const before = item();
      await write();
      const after = item();
      for (const index of indexes) {
        const name = String(index.IndexName);
        const units = indexWriteUnits({ ...table, GlobalSecondaryIndexes: [index] }, before, after);
        perIndex.set(name, (perIndex.get(name) ?? 0) + units);
        const partition = String(objectOf(listOf(index.KeySchema)[0]).AttributeName);
        const keys = [before, after].flatMap((one) => (one?.[partition] === undefined ? [] : String(one[partition].S)));
        for (const each of keys)
          byKey.set(`${name} ${each}`, (byKey.get(`${name} ${each}`) ?? 0) + units / keys.length);
      }
    };
    const record = create(key, NEW_TASK, T0);
    await slots.takeSlot(key, 100, T0, Math.ceil(T0 / 1_000));
    await counted(() => store.create(record));
    await counted(() =>
      store.applyBlind(record, finish(record, { text: '"done"', asks: false, isError: false }, undefined, T0)),
    );
  }
  const tasks = endings.length;
  const hottest = (name: string) =>
    Math.max(...[...byKey].filter(([key]) => key.startsWith(`${name} `)).map(([, units]) => units)) / tasks;
  return {
    table: used.write / tasks,
    indexes: Object.fromEntries([...perIndex].map(([name, units]) => [name, units / tasks])),
    hottest: Object.fromEntries([...perIndex.keys()].map((name) => [name, hottest(name)])),
  };
}
