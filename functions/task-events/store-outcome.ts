import { overdue } from '../tasks/deadlines.ts';
import { type OutcomeObjects, withOutcomeApart } from '../tasks/outcome/store-apart.ts';
import type { TaskKey } from '../tasks/record.ts';
import type { TaskStore } from '../tasks/table/store.ts';
import { finish } from '../tasks/transitions/end.ts';
import type { Waits } from '../tasks/waits/waits.ts';

/** The outcome that a tool workflow sends if it does not fit into the record (`lib/workflow/tool.asl.json`). */
export interface Outcome extends TaskKey {
  readonly round: number;
  /** The result, or the questions, as JSON text. */
  readonly text: string;
  readonly isError: boolean;
  /** Whether the run asks. */
  readonly asks: boolean;
  /** What the round waits for besides its client. */
  readonly waits?: Waits;
  /** JSON text of the arguments, if the record keeps them with the questions. */
  readonly arguments?: string;
  /** The same as in an event that the workflow writes itself. */
  readonly startedAt?: number;
  readonly retries?: number;
}

export interface OutcomeContext extends OutcomeObjects {
  /** The store. The end names no writer, so it counts as the workflow's. */
  readonly store: Pick<TaskStore, 'get' | 'applyBlind'>;
  /** The time, in milliseconds since the epoch. */
  readonly now: () => number;
}

/** After this many races that signals have won, the workflow tries again. */
const ATTEMPTS = 25;

/**
 * Writes a large outcome: stores the result or the input in S3, then changes the record by the conditions of `Finish`. It
 * can be repeated: a task that asks or waits, has ended or is in a later round does not change. Throws an error of AWS,
 * ResultStoreError, InputLost.
 */
export async function storeOutcome(outcome: Outcome, context: OutcomeContext): Promise<void> {
  const { store, now } = context;
  const { round, text, isError, asks, waits, startedAt, retries } = outcome;
  const facts = { ...(startedAt !== undefined && { startedAt }), ...(retries !== undefined && { retries }) };
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const record = await store.get(outcome);
    if (record?.status !== 'working' || record.round !== round || overdue(record, now())) return;
    const change = finish(record, { text, isError, asks, waits }, outcome.arguments, now());
    const small = await withOutcomeApart(record, change, context);
    if (overdue(record, now())) return;
    const event = small.event && { event: { ...small.event, ...facts } };
    if (await store.applyBlind(record, { ...small, ...event })) return;
  }
  throw new Error('The task is changing too fast');
}
