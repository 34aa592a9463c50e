import type { TaskKey } from '../../tasks/record.ts';
import type { OperatorContext } from '../context.ts';
import { type ListFilter, list } from '../list.ts';
import type { Outcome } from './act.ts';

/** What an act on many tasks resulted in. */
export interface BulkReport {
  readonly succeeded: readonly Outcome[];
  /** Refused, or not done because another writer came first. */
  readonly failed: readonly Outcome[];
}

/** The keys of up to `max` tasks that a filter finds, the newest first, and whether there are more. */
export async function selected(
  filter: ListFilter,
  max: number,
  context: OperatorContext,
): Promise<{ readonly keys: readonly TaskKey[]; readonly more: boolean }> {
  const keys: TaskKey[] = [];
  let cursor: string | undefined;
  do {
    const page = await list(filter, cursor, context);
    keys.push(...page.tasks.map(({ owner, taskId }) => ({ owner, taskId })));
    cursor = page.cursor;
  } while (cursor !== undefined && keys.length < max);
  return { keys: keys.slice(0, max), more: keys.length > max || cursor !== undefined };
}

/**
 * Acts on tasks one after the other, at most `rate` a second. What fails on one task does not stop the others. It can be
 * stopped at any moment and repeated: a task that has ended stays as it is.
 */
export async function inBulk(
  keys: readonly TaskKey[],
  act: (key: TaskKey) => Promise<Outcome>,
  rate: number,
  { now, sleep }: OperatorContext,
): Promise<BulkReport> {
  const succeeded: Outcome[] = [];
  const failed: Outcome[] = [];
  for (const [i, key] of keys.entries()) {
    const begun = now();
    const outcome = await act(key).catch(
      (error: Error): Outcome => ({ taskId: key.taskId, done: false, message: error.message }),
    );
    (outcome.done ? succeeded : failed).push(outcome);
    const pause = 1_000 / rate - (now() - begun);
    if (pause > 0 && i < keys.length - 1) await sleep(pause);
  }
  return { succeeded, failed };
}
