import { overdue } from '../tasks/deadlines.ts';
import type { TaskKey } from '../tasks/record.ts';
import { withResultApart } from '../tasks/results/outcome.ts';
import type { ResultStore } from '../tasks/results/result-store.ts';
import type { TaskStore } from '../tasks/table/store.ts';
import { finish } from '../tasks/transitions.ts';

/** What a tool workflow sends if the result of its run does not fit into the record (`lib/workflow/tool.asl.json`). */
export interface Outcome extends TaskKey {
  readonly round: number;
  /** The result as JSON text. */
  readonly text: string;
  readonly isError: boolean;
  /** As in the event that the workflow writes itself. */
  readonly startedAt?: number;
  readonly retries?: number;
}

export interface OutcomeContext {
  /** Says of no writer who it is: the end counts as that of the workflow. */
  readonly store: Pick<TaskStore, 'get' | 'applyBlind'>;
  readonly results: Pick<ResultStore, 'put'>;
  /** In ms since the epoch. */
  readonly now: () => number;
}

/**
 * Ends a task with a large result: stores the result in S3, then writes the end by the conditions of `Finish`. Can be
 * repeated: a task that has ended, or is in a later round, stays as it is. Throws an error of AWS, ResultStoreError.
 */
export async function storeOutcome(outcome: Outcome, { store, results, now }: OutcomeContext): Promise<void> {
  const { round, text, isError, startedAt, retries } = outcome;
  const record = await store.get(outcome);
  if (record?.status !== 'working' || record.round !== round || overdue(record, now())) return;
  const { event, ...end } = await withResultApart(
    record,
    finish(record, { text, isError, asks: false }, undefined, now()),
    results,
  );
  if (event === undefined || overdue(record, now())) return;
  const noted = { ...event, ...(startedAt !== undefined && { startedAt }), ...(retries !== undefined && { retries }) };
  await store.applyBlind(record, { ...end, event: noted });
}
