import type { Status, TaskRecord } from '../../../functions/tasks/record.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import { after, type Change } from '../../../functions/tasks/transitions/change.ts';

/** What the store does with a change, without a table: its conditions, then its writes. */
export function applied(before: TaskRecord, change: Change): TaskRecord | undefined {
  const fits =
    change.from.includes(before.status) &&
    (change.round === undefined || change.round === before.round) &&
    (change.answerCount === undefined || change.answerCount === Object.keys(before.inputResponses ?? {}).length) &&
    (change.inputRef === undefined || change.inputRef === (before.inputRef ?? null)) &&
    (change.dueAt === undefined || change.dueAt === before.dueAt) &&
    (change.updatedAt === undefined || change.updatedAt === before.updatedAt);
  return fits ? after(before, change) : undefined;
}

export const statuses: Status[] = ['working', 'waiting', 'input_required', 'completed', 'failed', 'cancelled'];
export const now = 1_700_000_000_000;
const asked = JSON.stringify({ inputRequests: { a: { method: 'roots/list' } } });
/** A task of ten seconds, made now. */
export const record = (over: Partial<TaskRecord> = {}): TaskRecord => ({
  ...create(
    { owner: 'o', taskId: 't' },
    { tool: 'x', ttl: 60_000, timeout: 10_000, accepts: ['roots/list'], legacy: false },
    now,
  ),
  ...(over.status === 'input_required' && { asked }),
  ...over,
});
