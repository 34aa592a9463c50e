import type { Status } from '../../../../../functions/tasks/record.ts';
import { isTerminal } from '../../../../../functions/tasks/transitions/change.ts';
import { type Call, type JsonObject, listOf, objectOf } from '../../../../../local/testing.ts';

/** A write of a task's record that was carried out, answered or not. */
export interface Write {
  readonly by: string;
  /** By the clock of the cloud, when the write was sent. */
  readonly at: number;
  /** When it was carried out. */
  readonly landedAt?: number | undefined;
  /** As the write sets it; undefined where it leaves it. */
  readonly status: Status | undefined;
  readonly round: number | undefined;
  /** Notes the stop of the run of a task that has ended. */
  readonly stop?: true;
  /** The reason of an operator, in the event that it adds. */
  readonly reason?: string | undefined;
}

/** What happened to each task, in order, by id. */
export function writesIn(calls: readonly Call[]): Map<string, Write[]> {
  const histories = new Map<string, Write[]>();
  for (const { at, answeredAt: landedAt, service, operation, status: answer, caller, input } of calls) {
    if (service !== 'dynamodb' || answer !== 200 || !['PutItem', 'UpdateItem'].includes(operation)) continue;
    const { Item, Key, ExpressionAttributeValues } = objectOf(input);
    const key = objectOf(Item ?? Key);
    const taskId = text(key.taskId);
    // Beside the tasks there are places and sessions, and what runs write.
    if (taskId === undefined || taskId.startsWith('#') || text(key.owner)?.startsWith('progress#')) continue;
    const values = objectOf(ExpressionAttributeValues);
    const set = (name: string) => (Item === undefined ? values[`:${name}`] : objectOf(Item)[name]);
    const history = histories.get(taskId) ?? [];
    const status = text(set('status')) as Status | undefined;
    const events = objectOf(Item === undefined ? values[':event'] : objectOf(Item).events);
    const reason = text(objectOf(objectOf(listOf(events.L)[0]).M).reason);
    const from = text(values[':from0']);
    const stop = status === undefined && from !== undefined && isTerminal(from as Status);
    history.push({
      by: caller,
      at,
      landedAt,
      status,
      round: number(set('round')),
      ...(stop && { stop }),
      ...(reason && { reason }),
    });
    histories.set(taskId, history);
  }
  return histories;
}

/** A start of a round that was asked for. */
export interface Start {
  readonly at: number;
  /** It was carried out, answered or not. */
  readonly done: boolean;
  /** Of the tool, as JSON text. */
  readonly args: string;
}

/** By `<taskId>-r<round>`. */
export function startsIn(calls: readonly Call[]): Map<string, Start[]> {
  const starts = new Map<string, Start[]>();
  for (const { at, operation, status, input } of calls) {
    if (operation !== 'StartExecution') continue;
    const { name, input: round } = objectOf(input);
    const args = String(objectOf(JSON.parse(String(round ?? '{}'))).arguments);
    starts.set(String(name), [...(starts.get(String(name)) ?? []), { at, done: status === 200, args }]);
  }
  return starts;
}

const text = (value: unknown): string | undefined => (objectOf(value) as JsonObject).S as string | undefined;
function number(value: unknown): number | undefined {
  const { N } = objectOf(value);
  return N === undefined ? undefined : Number(N);
}
