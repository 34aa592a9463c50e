import type { Status } from '../../../functions/tasks/record.ts';
import type { Call } from '../../../local/call-log.ts';
import { type JsonObject, objectOf } from '../../../local/json.ts';

/** A write of a task's record that was carried out, whoever heard of it. */
export interface Write {
  readonly by: string;
  /** As the write sets it; undefined where it leaves it. */
  readonly status: Status | undefined;
  readonly round: number | undefined;
}

/** What happened to each task, in order, by id. */
export function writesIn(calls: readonly Call[]): Map<string, Write[]> {
  const histories = new Map<string, Write[]>();
  for (const { service, operation, status, caller, input } of calls) {
    if (service !== 'dynamodb' || status !== 200 || !['PutItem', 'UpdateItem'].includes(operation)) continue;
    const { Item, Key, ExpressionAttributeValues } = objectOf(input);
    const taskId = text(objectOf(Item ?? Key).taskId);
    // Beside the tasks there are places and sessions.
    if (taskId === undefined || taskId.startsWith('#')) continue;
    const values = objectOf(ExpressionAttributeValues);
    const set = (name: string) => (Item === undefined ? values[`:${name}`] : objectOf(Item)[name]);
    const history = histories.get(taskId) ?? [];
    history.push({ by: caller, status: text(set('status')) as Status | undefined, round: number(set('round')) });
    histories.set(taskId, history);
  }
  return histories;
}

const text = (value: unknown): string | undefined => (objectOf(value) as JsonObject).S as string | undefined;
function number(value: unknown): number | undefined {
  const { N } = objectOf(value);
  return N === undefined ? undefined : Number(N);
}
