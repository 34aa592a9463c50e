import type { TaskRecord } from '../tasks/record.ts';
import { isInteger, isNumber, isObject, isString } from '../tasks/shape.ts';
import type { RunFacts } from './runs.ts';
import { errorOf } from './view.ts';

/** One thing that happened to a task. */
export interface Moment {
  /** In ms since the epoch. */
  readonly at: number;
  readonly what: string;
  readonly round?: number;
  /** What wrote it: `endpoint`, `workflow`, `reconciler`, `deadline`, `operator`. */
  readonly by?: string;
  /** An operator: who, and why. */
  readonly who?: string;
  readonly reason?: string;
  readonly error?: string;
  /** When the workflow of its round began, in ms since the epoch. */
  readonly startedAt?: number;
}

/** What happened, the oldest first: what the record tells, and the runs that Step Functions knows. */
export function momentsOf(record: TaskRecord, runs: readonly RunFacts[]): Moment[] {
  const told = toldBy(record);
  const moments = [...(told.length > 0 ? told : impliedBy(record)), ...runs.flatMap(ofRun)];
  return moments.toSorted((a, b) => a.at - b.at);
}

/** The record's own list. Fields of the wrong type are left out: another release may have written it. */
function toldBy(record: TaskRecord): Moment[] {
  const { events } = record as { readonly events?: unknown };
  return (Array.isArray(events) ? events : []).flatMap((event: unknown): Moment[] => {
    if (!isObject(event) || !isNumber(event.at) || !isString(event.what)) return [];
    const { at, what, round, by, who, reason, startedAt } = event;
    return [
      {
        at: Number(at),
        what: String(what),
        ...(isInteger(round) && { round: Number(round) }),
        ...(isString(by) && { by: String(by) }),
        ...(isString(who) && { who: String(who) }),
        ...(isString(reason) && { reason: String(reason) }),
        ...(isNumber(startedAt) && { startedAt: Number(startedAt) }),
      },
    ];
  });
}

/** What a record without such a list says. */
function impliedBy(record: TaskRecord): Moment[] {
  const { createdAt, updatedAt, status, round } = record;
  const error = errorOf(record)?.reason;
  const last = { at: updatedAt, what: status === 'input_required' ? 'asked' : status, round, ...(error && { error }) };
  return [
    { at: createdAt, what: 'created', round: 1 },
    ...(status === 'working' && updatedAt === createdAt ? [] : [last]),
  ];
}

function ofRun({ round, startedAt, stoppedAt, status, failures, error }: RunFacts): Moment[] {
  return [
    ...(startedAt === undefined ? [] : [{ at: startedAt, what: 'run started', round }]),
    ...failures.map((failure) => ({ at: failure.at, what: 'attempt failed', round, error: failure.error })),
    ...(stoppedAt === undefined
      ? []
      : [{ at: stoppedAt, what: `run ${status.toLowerCase()}`, round, ...(error !== undefined && { error }) }]),
  ];
}
