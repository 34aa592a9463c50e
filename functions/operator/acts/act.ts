import type { EngineContext } from '../../engine/ports.ts';
import { limits } from '../../tasks/limits.ts';
import type { TaskEvent, TaskKey, TaskRecord } from '../../tasks/record.ts';
import { type Change, isTerminal } from '../../tasks/transitions/change.ts';
import type { Act, OperatorContext } from '../context.ts';
import { OperatorError } from '../errors.ts';
import { momentsOf } from '../moments.ts';
import { readTask } from '../show.ts';
import { recordOf, seenNow, utc } from '../view.ts';

/** What one act on one task resulted in. */
export interface Outcome {
  readonly taskId: string;
  /** Whether the task changed by it. */
  readonly done: boolean;
  /** A sentence. */
  readonly message: string;
  /** rerun: the id of the new task. */
  readonly newTaskId?: string;
}

/** Who acts, and why. */
export interface Operator {
  readonly who: string;
  readonly reason: string;
}

export interface ActContext extends EngineContext {
  /** The record of the first write that was sent. From then on an error does not say that nothing was changed. */
  readonly sent: () => TaskRecord | undefined;
}

/** Characters of a reason, and of a name, that a record keeps. */
const KEPT = 200;

/** Throws OperatorError: the task is gone, of another release, or the credentials do not allow it. */
export async function readRecord(key: TaskKey, payload: boolean, context: OperatorContext): Promise<TaskRecord> {
  const record = recordOf(await readTask(key, payload, context));
  if (record !== undefined) return record;
  throw new OperatorError(
    `Task ${key.taskId} was stored by another release of the server: only that one may change it`,
  );
}

/** Marks a change as an operator's: its event says who and why, even if the record takes no other events. */
export function byOperator(record: TaskRecord, change: Change, what: TaskEvent['what'], operator: Operator): Change {
  const { round, events } = record;
  const ofOperators = events.filter(({ by }) => by === 'operator').length;
  if (change.event === undefined && ofOperators >= limits.events.others) return change;
  const at = change.set.updatedAt ?? record.updatedAt;
  const event = change.event ?? { at, what, ...(round > 1 && { round }) };
  return { ...change, event: { ...event, ...factsOf(operator) } };
}

/** The members that an operator adds to an event. */
export const factsOf = ({ who, reason }: Operator): Pick<TaskEvent, 'who' | 'reason'> => ({
  who: who.slice(0, KEPT),
  reason: reason.slice(0, KEPT),
});

/** Why nothing can be done to a task that has ended: how, when, and by whom. */
export function overAlready(record: TaskRecord, now: number): string | undefined {
  const seen = seenNow(record, now);
  if (seen === undefined) return 'it is past its ttl, and no reader sees it';
  if (!isTerminal(seen.status)) return undefined;
  const last = momentsOf(record, []).findLast(({ what }) => what === seen.status);
  const by = last?.who === undefined ? '' : ` by ${last.who}${last.reason ? ` (“${last.reason}”)` : ''}`;
  return `it is ${seen.status} already${by}, since ${utc(seen.updatedAt)}`;
}

/**
 * What an act resulted in. If AWS fails after a write was sent, the act may be done, and may not: `unknown` says so, of the
 * record that was to be written.
 */
export async function orUnknown<T>(
  acting: Promise<T>,
  { sent }: ActContext,
  unknown: (message: string, record: TaskRecord) => T,
): Promise<T> {
  try {
    return await acting;
  } catch (error) {
    const record = sent();
    if (error instanceof OperatorError || record === undefined) throw error;
    const advice = `see mcp-task-server tasks show ${record.taskId}`;
    return unknown(`It is not known whether this was done (${(error as Error).name}): ${advice}`, record);
  }
}

/** Writes the audit line of an act. Returns what its caller gets. */
export function reported(
  act: Act['act'],
  record: TaskRecord,
  operator: Operator,
  outcome: Omit<Outcome, 'taskId'>,
  { audit }: OperatorContext,
  /** For the audit line, if the message holds what a tool wrote. */
  plain: string = outcome.message,
): Outcome {
  const { taskId, owner, tool } = record;
  const { done, newTaskId } = outcome;
  audit({ act, taskId, owner, tool, ...operator, done, outcome: newTaskId ?? plain });
  return { taskId, ...outcome };
}
