import { rerunTask } from '../../../../functions/operator/acts/rerun.ts';
import { failure } from '../../../../functions/tasks/failures.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { after } from '../../../../functions/tasks/transitions/change.ts';
import { fail } from '../../../../functions/tasks/transitions/end.ts';
import { ann, KEY, type operatorOn, T0, task } from '../operators.ts';

/** Failed as never started, with an idempotency key and the arguments that its tool keeps. */
export const neverStarted = (more: Partial<TaskRecord> = {}): TaskRecord => ({
  ...after(task({ kept: '{"n":1}', digest: 'd' }), fail(failure('NotStarted'), T0 + 1)),
  ...more,
});
export const completed = (more: Partial<TaskRecord> = {}) =>
  task({ status: 'completed', result: '1', kept: '{"n":1}', updatedAt: T0 + 1, ...more });
export const EFFECTS =
  "Not run again: 'tool' may have had effects already, and its annotations do not say that it can be repeated. --force does it all the same";
export const rerun = (server: ReturnType<typeof operatorOn>, force = false) =>
  rerunTask(KEY, force, ann, server.context);
export const made = ({ records }: ReturnType<typeof operatorOn>) =>
  records.all().find(({ taskId }) => taskId !== KEY.taskId);
