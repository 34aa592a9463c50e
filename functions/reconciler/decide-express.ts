import type { Engine } from '../tasks/engines.ts';
import type { TaskRecord } from '../tasks/record.ts';
import { awaitRun } from '../tasks/transitions/express.ts';
import { isSeen } from '../tasks/transitions/run.ts';
import { type Decision, decide, restart } from './decide.ts';
import { outcome } from './outcome.ts';

/** How the tool of a task is registered now. A deployment may have changed it since the task began. */
export interface ToolNow {
  readonly engine: Engine;
  /** It may run again after a run that perhaps happened. */
  readonly repeatable: boolean;
}

/**
 * As `decide` for a task whose round is on Express. Nothing can be asked about its run, so the round starts again once the run
 * is probably over, the first round as well: a run that never began cannot be distinguished from one that died
 * (docs/crash-table.md, "On Express").
 */
export function decideExpress(record: TaskRecord, now: number, tool: ToolNow): Decision {
  const decision = decide(record, now);
  if (decision.kind !== 'check' && decision.kind !== 'check_again') return decision;
  // A start would be too late: the task lapses within the grace.
  if (now >= record.deadlineAt) return { kind: 'nothing' };
  // Who starts a later round notes that it has begun. A round without a note was not started, as far as is known.
  if (!isSeen(record) && (record.round === 1 || !tool.repeatable)) {
    return { kind: 'postponed', change: awaitRun(record, record.dueAt ?? now) };
  }
  return tool.repeatable ? restart('run_lost', record, tool.engine, now) : runEnded(record, now);
}

/** The run of this round has ended without a write, and cannot be started again. */
export function runEnded(record: TaskRecord, now: number): Decision {
  return { kind: 'run_ended', change: outcome(record, { status: 'missing' }, now) };
}
