import { createHash } from 'node:crypto';
import { ID_LETTERS } from '../tasks/ids.ts';
import { failureName } from '../tasks/log.ts';
import type { Status, TaskRecord } from '../tasks/record.ts';
import type { EventFacts } from '../tasks/table/events/log.ts';
import { isTerminal } from '../tasks/transitions/change.ts';

/** What an event takes from a task. */
export interface Task extends Pick<TaskRecord, 'taskId' | 'tool' | 'round' | 'status' | 'createdAt' | 'updatedAt'> {
  readonly deadlineAt?: number | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly isError?: boolean | undefined;
  /** The name of a failure. */
  readonly reason?: string | undefined;
}

/**
 * What MCP Events says of a task that has ended, or asks. Undefined: nothing.
 *
 * @param status the one that it moved to
 */
export function factsOf(task: Task, status: Status = task.status): EventFacts | undefined {
  const { taskId, tool, createdAt, updatedAt: at, scopes, isError, reason, deadlineAt: answerBy } = task;
  const facts = { eventId: eventIdOf(task, status), at, taskId, tool, createdAt, scopes };
  if (status === 'input_required') return { ...facts, name: 'task.asks', answerBy };
  if (!isTerminal(status)) return undefined;
  return { ...facts, name: 'task.finished', status, isError: isError || undefined, reason };
}

/** The same, from a record. */
export const factsOfRecord = (record: TaskRecord): EventFacts | undefined =>
  factsOf({ ...record, reason: failureName(record.error) });

/** Names a change of a task: the same each time it is published. A keyed task may have the id of an earlier task that expired. */
export const changeId = (
  { taskId, createdAt, round }: Pick<Task, 'taskId' | 'createdAt' | 'round'>,
  to: string,
): string => `${taskId}/${createdAt}/r${round}/${to}`;

/** It has no dot: a signature is made of id, time and body with dots between. */
function eventIdOf(task: Task, to: Status): string {
  const digest = createHash('sha256').update(changeId(task, to)).digest().subarray(0, 26);
  return `evt_${Array.from(digest, (byte) => ID_LETTERS[byte & 31]).join('')}`;
}
