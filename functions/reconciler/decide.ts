import { asOf, lapse, overdue } from '../tasks/deadlines.ts';
import { ENGINES, type Engine, engineOf } from '../tasks/engines.ts';
import { failure } from '../tasks/failures.ts';
import { isOlder } from '../tasks/ids.ts';
import { limits } from '../tasks/limits.ts';
import type { TaskRecord } from '../tasks/record.ts';
import { type Change, isTerminal, sameDueAt } from '../tasks/transitions/change.ts';
import { failAsSeen, keyExpired } from '../tasks/transitions/end.ts';
import { restartOnExpress } from '../tasks/transitions/express.ts';
import { checkAgain, confirmStart, isSeen, restarted, stopped } from '../tasks/transitions/run.ts';
import { waitOn } from '../tasks/transitions/waits.ts';
import { isOver } from '../tasks/waits/waits.ts';
import { isUnheard, outcome, type Run } from './outcome.ts';

/**
 * What was wrong with a task. `not_stopped`: it has ended, and its run may go on. `run_lost`: of a run without a history, which is
 * probably over, or never began.
 */
const REPAIRS = [
  'overdue',
  'unanswered',
  'never_started',
  'not_restarted',
  'not_stopped',
  'run_ended',
  'run_lost',
] as const;
export type Repair = (typeof REPAIRS)[number];
export const isRepair = (done: string): done is Repair => REPAIRS.some((repair) => repair === done);

export type Decision =
  /**
   * `nothing` is to repair. `check`: depends on the run, which was not seen yet. `check_again`: on one seen before. `resume`: it
   * may go on after a wait.
   */
  | { readonly kind: 'nothing' | 'check' | 'check_again' | 'resume' }
  | {
      /** `postponed`: nothing is wrong. The sweep comes back later. */
      readonly kind: Repair | 'postponed';
      /** Start the round again, under the same name, before the change is written. */
      readonly start?: true;
      /** Each start is one more run: start it after the change is written, and only if that write won. */
      readonly claim?: true;
      readonly change: Change;
      /** Stop the run, if there is one, after the change was written: from then on it can change nothing. */
      readonly stop?: true;
    };

const NOTHING: Decision = { kind: 'nothing' };

/**
 * What to do with a task, from its record, read consistently a moment ago, and from what is known of its run
 * (docs/architecture/tasks.md, "Repair"). Every change requires the status and the round of that record, so two reconcilers,
 * or a run that ends meanwhile, do no harm: the first write wins.
 *
 * @param engine what runs the tool now
 */
export function decide(record: TaskRecord | undefined, now: number, run?: Run, engine?: Engine): Decision {
  if (record === undefined) return NOTHING;
  const { status } = record;
  if (isTerminal(status)) return isStopDue(record, now, run) ? { kind: 'not_stopped', change: stopped } : NOTHING;
  const working = status === 'working';
  const lapsed = lapse(record, now);
  // Also past its ttl, when no reader sees it: the write takes it out of the index.
  if (lapsed !== undefined) {
    return working ? { kind: 'overdue', change: lapsed, stop: true } : { kind: 'unanswered', change: lapsed };
  }
  if (asOf(record, now) === undefined) return NOTHING;
  if (record.status === 'waiting') {
    // After the deadline a run could not end in time: the task lapses within the grace.
    if (isOver(record, now)) return overdue(record, now) === undefined ? { kind: 'resume' } : NOTHING;
    return (record.dueAt ?? now) > now ? NOTHING : { kind: 'postponed', change: waitOn(record) };
  }
  if (!working) return NOTHING;
  // The index may be behind and show a round whose run is too young to be found.
  if (run === undefined) {
    if ((record.dueAt ?? now) > now) return NOTHING;
    return { kind: isSeen(record) ? 'check_again' : 'check' };
  }
  // No round of this task can get a run of that name, and what the other one came to is not its own.
  if (record.digest !== undefined && isOlder(run.startedAt, record)) {
    return { kind: 'run_ended', change: keyExpired(record, now) };
  }
  const running = run.status === 'RUNNING';
  if (running && !isUnheard(run.work, now)) return { kind: 'postponed', change: comeBack(record, run, now) };
  // A start would be too late: the task lapses within the grace.
  const missing = run.status === 'missing' && !isSeen(record);
  if (missing && record.round > 1 && now >= record.deadlineAt) return NOTHING;
  // Also if the run has a result: it is too late to be written, and readers will see this failure.
  const late = overdue(record, now);
  const stop = { stop: true } as const;
  if (late !== undefined) return { kind: 'overdue', change: late, ...((missing || running) && stop) };
  if (!missing) return { kind: 'run_ended', change: outcome(record, run, now), ...(running && stop) };
  if (record.round > 1) return restart('not_restarted', record, engine ?? engineOf(record), now);
  // The client never got its id and will call again: with a start now, a side effect could happen twice.
  return { kind: 'never_started', change: failAsSeen(record, failure('NotStarted'), now), stop: true };
}

/** Whether the run of a task that has ended is to be stopped, or is known to be over. */
function isStopDue({ due, dueAt = 0 }: TaskRecord, now: number, run?: Run): boolean {
  return (
    due !== undefined && (dueAt <= now || (run !== undefined && run.status !== 'RUNNING' && run.status !== 'missing'))
  );
}

/** The round starts again on `engine`. Where each start is one more run, the write comes first. */
export function restart(kind: Repair, record: TaskRecord, engine: Engine, now: number): Decision {
  return ENGINES[engine].idempotentStart
    ? { kind, start: true, change: restarted(record, engine, now) }
    : { kind, start: true, claim: true, change: restartOnExpress(record, now) };
}

/** Soon if the tool's state machine has ended: its workflow is probably about to see that. */
function comeBack(record: TaskRecord, { work }: Run, now: number): Change {
  const ended = work !== undefined && work.status !== 'RUNNING' && work.status !== 'missing';
  return ended ? checkAgain(record, now, limits.unheard) : confirmStart(record, now);
}

/** For a task whose tool this version of the server does not know. The next version, or the last one, may know it. */
export function postpone(record: TaskRecord, now: number): Decision {
  return { kind: 'postponed', change: { ...checkAgain(record, now, limits.unknownTool), ...sameDueAt(record) } };
}
