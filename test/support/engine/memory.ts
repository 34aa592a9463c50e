import type { Workflow } from '../../../functions/engine/ports.ts';
import { describer } from '../../../functions/reconciler/describe.ts';
import { BEFORE_TASKS, PROGRESS_PARTITION } from '../../../functions/tasks/attributes.ts';
import { byDocumentClient } from '../../../functions/tasks/aws/dynamodb.ts';
import { workflow } from '../../../functions/tasks/aws/workflow.ts';
import { executionArnOf } from '../../../functions/tasks/ids.ts';
import type { TaskRecord, Writer } from '../../../functions/tasks/record.ts';
import { inputStore } from '../../../functions/tasks/s3/input-store.ts';
import { statusShard } from '../../../functions/tasks/table/status-index.ts';
import { taskStore } from '../../../functions/tasks/table/store.ts';
import { documentClient } from './client.ts';
import { Executions, MACHINES } from './executions.ts';
import { createObjects } from './objects.ts';
import { createTable, type Table } from './table.ts';
import { fromItem, type Item, toItem } from './values.ts';

export const TABLE = 'tasks';
/** The run of a round on Standard. */
export const executionArn = (taskId: string, round: number): string =>
  executionArnOf({ taskId, round }, `${MACHINES}standard`);

/** Thrown where a process dies. */
export class Killed extends Error {}

/**
 * The engine's ports in memory, for tests: the real store, input store and workflow, on a table, an S3 and a Step Functions
 * of plain objects. What DynamoDB refuses is refused here: test/contract holds both against the same cases.
 *
 * @param writer named in the events that the store writes
 */
export function memoryEngine(now: () => number, writer?: Writer) {
  const table = createTable(now, () => {});
  const dynamoDb = byDocumentClient(documentClient(table, async (_what, carryOut) => carryOut(false)));
  const objects = createObjects();
  const executions = new Executions(now);
  const stepFunctions = executions.client();
  const did: string[] = [];
  const kill: { at?: number; after?: number } = {};

  /** The port, whose calls of these methods are in `did`. */
  function noted<Port extends object>(port: Port, names: readonly (keyof Port & string)[]): Port {
    const watched = names.map((name) => {
      const method = port[name] as (...given: unknown[]) => Promise<unknown>;
      const call = async (...given: unknown[]) => {
        const number = did.push(name);
        if (kill.at === number) throw new Killed();
        const answer = await method.apply(port, given);
        if (kill.after === number) throw new Killed();
        return answer;
      };
      return [name, call] as const;
    });
    return { ...port, ...Object.fromEntries(watched) };
  }

  return {
    table,
    dynamoDb,
    objects,
    executions,
    records: recordsOf(table),
    /** The calls of the store, the workflow and DescribeExecution, by the names of their methods. */
    did,
    /** Dies at the n-th of these calls instead of making it, or right after it. */
    kill,
    store: noted(taskStore(dynamoDb, TABLE, writer), ['create', 'get', 'apply', 'applyBlind', 'postpone']),
    workflow: noted<Workflow>(workflow(stepFunctions, MACHINES), ['start', 'stop']),
    describe: noted({ describe: describer(stepFunctions) }, ['describe']).describe,
    inputs: inputStore(objects),
  };
}

/** The tasks of a table by their ids, for a test that makes and finds them there. */
function recordsOf(table: Table) {
  const isTask = ({ owner, taskId }: Item) =>
    String(taskId?.S) > BEFORE_TASKS && !String(owner?.S).startsWith(PROGRESS_PARTITION);
  const items = () => [...table.items()].filter(isTask);
  const recordOf = (item: Item): TaskRecord => {
    const { statusShard: _, ...record } = fromItem(item);
    return record as unknown as TaskRecord;
  };
  return {
    get(taskId: string): TaskRecord | undefined {
      const item = items().find((one) => one.taskId?.S === taskId);
      return item && recordOf(item);
    },
    /** Whatever is there. */
    set(record: TaskRecord): void {
      table.put({ Item: toItem({ ...record, statusShard: statusShard(record.status, record.taskId) }) });
    },
    all: (): TaskRecord[] => items().map(recordOf),
    ids: (): string[] => items().map(({ taskId }) => String(taskId?.S)),
    clear(): void {
      for (const { owner = {}, taskId = {} } of items()) table.delete({ owner, taskId });
    },
  };
}
