import type { DynamoDb } from '../tasks/aws/dynamodb.ts';
import { patiently } from '../tasks/aws/patiently.ts';
import { type FileStore, fileStore } from '../tasks/files/file-items.ts';
import { logEvent } from '../tasks/log.ts';
import { type RunStore, runStore } from '../tasks/table/store.ts';
import type { TaskContext } from '../tasks/tool-contract.ts';

const stores = new Map<string, RunStore & FileStore>();
/** Timeout of a request, in milliseconds. A dead connection must not use up the time of the function. */
const REQUEST_TIMEOUT = 5_000;

/**
 * The part of the table that a run may use. The client is loaded for the first run that needs it. While AWS throttles or fails, what
 * a run keeps waits, each page of a long journal by itself. Reports and the check of its status do not: they come again.
 */
export async function storeOf({ table }: TaskContext): Promise<RunStore & FileStore> {
  const known = stores.get(table);
  if (known !== undefined) return known;
  const { dynamoDb } = await import('#mcp-task-server/dynamodb');
  const db = dynamoDb({ requestTimeout: REQUEST_TIMEOUT });
  const waits: DynamoDb = {
    ...db,
    query: (input) => patiently(() => db.query(input)),
    update: (input) => patiently(() => db.update(input)),
  };
  const { report } = runStore(db, table);
  const store = { ...runStore(waits, table), ...fileStore(waits, table), report };
  stores.set(table, store);
  return store;
}

/** The key of the items of a run, which live as long as its task. A run may end sooner. */
export const runKeyOf = (task: TaskContext) => ({ ...task, deadline: task.taskDeadline ?? task.deadline });

const denied = new Set<string>();

/** Whether the role of the function lacks this right. Logs it once. */
export function isDenied(error: unknown, action: 'GetItem' | 'Query' | 'UpdateItem'): boolean {
  const { name } = error as Error;
  if (name !== 'AccessDeniedException') return false;
  const event = action === 'UpdateItem' ? 'write_denied' : 'read_denied';
  if (!denied.has(action)) logEvent(event, { action: `dynamodb:${action}`, error: name });
  denied.add(action);
  return true;
}
