import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { after, type Change } from '../../../functions/tasks/transitions.ts';

/** What the store does with a change, without a table: its conditions, then its writes. */
export function applied(before: TaskRecord, change: Change): TaskRecord | undefined {
  const fits =
    change.from.includes(before.status) &&
    (change.round === undefined || change.round === before.round) &&
    (change.answerCount === undefined || change.answerCount === Object.keys(before.inputResponses ?? {}).length) &&
    (change.inputRef === undefined || change.inputRef === (before.inputRef ?? null));
  return fits ? after(before, change) : undefined;
}
